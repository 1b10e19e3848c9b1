package dev.holdfast.server;

import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets in only the user whose host this is: what the kernel says of the peer is looked at before a byte is read. The
 * file modes say the same; this also holds when somebody loosened them. Where the kernel tells nothing, they stand alone.
 */
final class SameUser implements SocketOptions {
    private static final Logger LOG = LoggerFactory.getLogger(SameUser.class);

    private final UserPrincipal user;

    SameUser(UserPrincipal user) {
        this.user = user;
    }

    /** Called for each accepted connection; throwing closes it. */
    @Override
    public void configureSocket(SocketChannel channel) {
        if (!channel.supportedOptions().contains(ExtendedSocketOptions.SO_PEERCRED)) {
            return;
        }
        try {
            var peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED);
            if (!admits(peer.user())) {
                LOG.warn("user {} is not let in: this host is of user {}", peer.user(), user);
                throw new SecurityException("the door is for user " + user.getName());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the peer of a connection cannot be told", e);
        }
    }

    boolean admits(UserPrincipal peer) {
        return user.equals(peer);
    }

    @Override
    public Map<SocketOption<?>, Object> socketOptions() {
        return Map.of();
    }

    @Override
    public Duration connectTimeout() {
        return Duration.ofSeconds(10);
    }

    @Override
    public Duration readTimeout() {
        return Duration.ZERO;
    }

    @Override
    public Optional<Integer> socketReceiveBufferSize() {
        return Optional.empty();
    }

    @Override
    public Optional<Integer> socketSendBufferSize() {
        return Optional.empty();
    }

    @Override
    public boolean socketReuseAddress() {
        return false;
    }

    @Override
    public boolean socketKeepAlive() {
        return false;
    }

    @Override
    public boolean tcpNoDelay() {
        return false;
    }
}
