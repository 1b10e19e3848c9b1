package dev.holdfast.core;

import dev.holdfast.FeedEnd;
import dev.holdfast.Limits;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a reading surface gets (CH-09): in the order of acceptance, one feed at a time, in flight until settled. */
abstract sealed class Feeds extends Mail permits Step {
    Feeds(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        super(limits, fold, durable, live, now);
    }

    /** MB-03, MB-05: fences the older feed and takes back what it held. */
    final void openFeed(Input.FeedWanted wanted) {
        endFeed(FeedEnd.FENCED, "a newer feed was opened");
        emit(new Event.FeedOpened(durable.reading().feed() + 1, wanted.surface()));
        if (durable.phase() == Phase.CLOSED) {
            closeFeed(FeedEnd.CLOSED); // who opened it learns that
        }
    }

    /** The feed is over and what it holds goes to the front; nothing to do when there is neither. */
    final void endFeed(FeedEnd cause, String why) {
        giveBack(why);
        closeFeed(cause);
    }

    /** What it holds may still be settled. */
    final void closeFeed(FeedEnd cause) {
        live.demand = Optional.empty();
        if (durable.reading().open()) {
            emit(new Event.FeedEnded(durable.reading().feed(), cause));
        }
    }

    private void giveBack(String why) {
        var held = durable.reading().inHand();
        if (!held.isEmpty()) {
            emit(new Event.MessagesReturned(durable.reading().feed(), held, why));
        }
    }

    final void want(Input.TakeWanted w) {
        live.takes++;
        if (current(w.feed(), "take") && durable.reading().open()) {
            live.demand = Optional.of(new Live.Demand(w.max(), w.waits(), w.through()));
        }
    }

    final void wantNoMore(Input.TakeWithdrawn w) {
        if (current(w.feed(), "withdrawal")) {
            live.demand = Optional.empty();
        }
    }

    final void settled(Input.ReadSettled r) {
        var held = durable.reading().inHand().stream()
                .filter(m -> m.number() == r.number())
                .findFirst();
        if (!current(r.feed(), "end of message " + r.number())) {
            return;
        }
        held.ifPresentOrElse(
                m -> emit(new Event.MessageEnded(m, r.outcome(), true, r.text(), "")),
                () -> note(new Event.Noticed("late_end", "message " + r.number() + " is not in flight")));
    }

    final void returned(Input.ReadReturned r) {
        var held = durable.reading().inHand().stream()
                .filter(m -> r.numbers().contains(m.number()))
                .toList();
        if (current(r.feed(), "return") && !held.isEmpty()) {
            emit(new Event.MessagesReturned(r.feed(), held, r.why()));
        }
    }

    final void over(Input.FeedOver o) {
        if (!current(o.feed(), "end of the feed")) {
            return;
        }
        if (!o.keeps()) {
            giveBack("its reader let go");
        }
        closeFeed(o.cause());
    }

    /** A stale reader takes and settles nothing (MB-03). */
    private boolean current(long feed, String what) {
        if (feed == durable.reading().feed()) {
            return true;
        }
        note(new Event.Noticed("stale_feed", what + " by feed " + feed));
        return false;
    }

    /** Gives what is next to a reader that waits, or ends its feed when nothing more may be given. */
    final void serve() {
        if (durable.reading().open() && durable.phase() == Phase.CLOSED) {
            closeFeed(FeedEnd.CLOSED); // nothing comes any more, whether its reader asks or not
        }
        if (!durable.reading().open() || live.demand.isEmpty()) {
            return;
        }
        var demand = live.demand.get();
        switch (durable.phase()) {
            case PAUSED, PARKED -> closeFeed(Core.drained(durable.phaseReason()) ? FeedEnd.DRAINED : FeedEnd.PAUSED);
            case DRAINING -> closeFeed(FeedEnd.DRAINED);
            case CLOSED -> closeFeed(FeedEnd.CLOSED);
            case OPEN -> {
                var next = upTo(demand.max());
                boolean more = !demand.waits() && !readThrough(demand.through()) && next.size() < demand.max();
                if (more) {
                    return; // what was accepted before it asked is still being read
                }
                if (!next.isEmpty()) {
                    live.demand = Optional.empty();
                    emit(new Event.MessagesTaken(durable.reading().feed(), next, now));
                } else if (durable.finishing()
                        .filter(f -> readThrough(f.number() - 1))
                        .isPresent()) {
                    closeFeed(FeedEnd.CLOSED);
                } else if (!demand.waits() && readThrough(demand.through())) {
                    live.demand = Optional.empty();
                }
            }
        }
    }

    /** The next ones: those given back first, then in order of acceptance, never past one that was not read. */
    private List<Taken> upTo(int max) {
        var next = new ArrayList<Taken>();
        durable.front().stream().limit(max).forEach(next::add);
        unnamed()
                .takeWhile(h -> readThrough(h.number() - 1))
                .limit((long) max - next.size())
                .map(Header::taken)
                .forEach(next::add);
        return next;
    }
}
