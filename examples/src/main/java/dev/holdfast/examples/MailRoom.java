package dev.holdfast.examples;

import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Payload;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import java.nio.file.Path;
import java.util.Optional;

/** A durable inbox that Java code reads by itself, with an address for a webhook, as the README shows it. */
public final class MailRoom {
    private MailRoom() {}

    /** Delivers one refund by its address, reads it and ends it. Twice run, it is booked once. */
    public static void main(String[] arguments) {
        System.out.println(bookOne(Path.of("data")));
    }

    static String bookOne(Path data) {
        var shop = new Author("shop", "webhook");
        // readme: inbox
        try (var holdfast = Holdfast.open(SqliteJournal.at(data));
                var inbox = holdfast.inbox(new SessionName("refunds"))
                        .toCompletableFuture()
                        .join()) {
            inbox.session().addresses().claim("shop-7f31").toCompletableFuture().join();
            var refund = new Payload.Words("refund 991", DeliveryPolicy.NEXT);
            holdfast.deliver("shop-7f31", refund, shop, Optional.of("refund-991"))
                    .toCompletableFuture()
                    .join();
            for (var received : inbox.takeAll().toCompletableFuture().join()) { // in flight until it is settled
                inbox.settle(received, "booked").toCompletableFuture().join();
                return received.number() + " booked";
            }
            return "nothing new";
        }
        // readme: end
    }
}
