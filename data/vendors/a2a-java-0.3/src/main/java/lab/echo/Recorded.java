package lab.echo;

import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** Stamps every response with the nonce, and writes every request down: the same lines as the other agents. */
@ApplicationScoped
public class Recorded {
    private static final String NONCE_HEADER = "X-A2A-Lab-Nonce";
    // Headers that say how a client behaves; anything that may carry a credential is left out.
    private static final List<String> LOGGED = List.of(
            "a2a-version", "a2a-extensions", "accept", "content-type", "if-none-match", "user-agent", "x-tenant");

    void record(@Observes Router router) {
        Handler<RoutingContext> stamp = call -> {
            if (!Options.given.nonce.isEmpty()) {
                call.response().putHeader(NONCE_HEADER, Options.given.nonce);
            }
            if (!Options.given.log.isEmpty()) {
                listen(call.request());
            }
            call.next();
        };
        router.route().order(Integer.MIN_VALUE).handler(stamp);
    }

    private static void listen(HttpServerRequest request) {
        // A second listener: the body goes on to whoever parses it.
        double at = System.currentTimeMillis() / 1000.0;
        request.body().onComplete(read -> write(request, at, read.succeeded() ? read.result() : Buffer.buffer()));
    }

    private static synchronized void write(HttpServerRequest request, double at, Buffer body) {
        JsonObject headers = new JsonObject();
        for (String name : LOGGED) {
            if (request.getHeader(name) != null) {
                headers.put(name, request.getHeader(name));
            }
        }
        String method = null;
        try {
            method = new JsonObject(body).getString("method");
        } catch (RuntimeException notACall) {
            // Whatever else was sent names no method.
        }
        String line = new JsonObject()
                .put("at", at).put("method", request.method().name()).put("path", request.path())
                .put("headers", headers).put("rpc", method).put("bytes", body.length()).encode();
        Path log = Path.of(Options.given.log);
        try {
            if (!Files.exists(log)) {
                Files.createFile(log, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
            Files.write(log, (line + "\n").getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
        } catch (IOException full) {
            System.err.println("the request log cannot be written: " + full);
        }
    }
}
