package dev.holdfast.runtime;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Addresses;
import dev.holdfast.ArrivalKind;
import dev.holdfast.HoldfastException;
import dev.holdfast.Received;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The addresses of one session: kept by the store, so that a claim is durable when it is answered. */
final class SessionAddresses implements Addresses {
    private final LiveSession session;
    private final Holdfast.Parts parts;

    SessionAddresses(LiveSession session, Holdfast.Parts parts) {
        this.session = session;
        this.parts = parts;
    }

    @Override
    public CompletionStage<Address> claim(String token, AddressTerms terms) {
        var wanted = new Address(token, session.name(), terms, OptionalLong.empty());
        var answer = session.onward(parts.journal().claimAddress(session.name(), token, terms));
        return answer.thenApply(claim -> switch (claim) {
            case AddressClaim.Claimed c -> wanted;
            case AddressClaim.Owned o ->
                throw new HoldfastException("the address '" + token + "' belongs to session " + o.owner()
                        + ": release it there first, or use another");
            case AddressClaim.TooMany t ->
                throw new HoldfastException("session " + session.name() + " has " + t.limit()
                        + " addresses, which is the limit: release one to claim '" + token + "'");
        });
    }

    @Override
    public CompletionStage<List<Address>> claimAll(List<String> tokens) {
        CompletionStage<Claims> all = CompletableFuture.completedFuture(new Claims());
        for (String token : new LinkedHashSet<>(tokens)) {
            all = all.thenCompose(so -> attempt(token).handle((claimed, failure) -> {
                if (failure == null) {
                    so.claimed.add(claimed);
                } else if (so.first.isEmpty()) {
                    so.first = Optional.of(failure);
                }
                return so;
            }));
        }
        return all.thenCompose(so -> so.first.isPresent()
                ? CompletableFuture.failedFuture(so.first.get())
                : CompletableFuture.completedFuture(List.copyOf(so.claimed)));
    }

    /** A token that is not allowed fails as any other does, in its place. */
    private CompletionStage<Address> attempt(String token) {
        try {
            return claim(token);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** What a batch of claims came to so far. */
    private static final class Claims {
        private final List<Address> claimed = new ArrayList<>();
        private Optional<Throwable> first = Optional.empty();
    }

    @Override
    public CompletionStage<List<String>> claimed() {
        return session.onward(parts.journal().addresses(session.name()))
                .thenApply(all -> all.stream().map(Address::token).toList());
    }

    @Override
    public CompletionStage<List<Received>> release() {
        return session.onward(parts.journal()
                .releaseAddresses(session.name(), List.of())
                .thenCompose(
                        gone -> gone.isEmpty() ? CompletableFuture.completedFuture(List.<Received>of()) : takeOut()));
    }

    private CompletionStage<List<Received>> takeOut() {
        var release = parts.envelope().control(session.name(), ArrivalKind.RELEASE, "");
        return session.acceptAndWatch(release, before -> SessionAddresses::released)
                .thenCompose(session::load);
    }

    private static Optional<List<Taken>> released(long own, Event event) {
        return event instanceof Event.MessagesReleased r && r.number() == own
                ? Optional.of(r.messages())
                : Optional.empty();
    }

    @Override
    public CompletionStage<Void> dispose() {
        return session.onward(parts.journal().releaseAddresses(session.name(), List.of()))
                .thenApply(gone -> null);
    }

    @Override
    public CompletionStage<Void> restore(List<Received> payloads) {
        var numbers = payloads.stream().map(Received::number).toList();
        if (numbers.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return session.onward(session.restore(numbers));
    }
}
