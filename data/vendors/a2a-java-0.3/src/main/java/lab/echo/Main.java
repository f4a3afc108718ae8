package lab.echo;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.annotations.QuarkusMain;

/** An echo agent on the official Java SDK 0.3.3, deterministic and without a model: reads the options, and serves. */
@QuarkusMain
public class Main {
    public static void main(String... arguments) {
        Options options = Options.read(arguments);
        System.setProperty("quarkus.http.host", "127.0.0.1");
        System.setProperty("quarkus.http.port", Integer.toString(options.port));
        System.setProperty("quarkus.banner.enabled", "false");
        System.setProperty("quarkus.shutdown.timeout", "0");
        Quarkus.run(arguments);
    }
}
