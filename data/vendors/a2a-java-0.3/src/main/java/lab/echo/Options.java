package lab.echo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The options that every echo agent understands. The endpoint of this SDK's reference server is always at the root. */
public class Options {
    private static final List<String> KNOWN =
            List.of("port", "interface-slash", "modes", "output-modes", "hang", "work", "log", "nonce", "mount");

    static Options given;

    final int port;
    final List<String> modes;
    final List<String> outputModes;
    final int finishing;
    final long workMillis;
    final String log;
    final String nonce;

    private Options(Map<String, List<String>> words) {
        port = Integer.parseInt(one(words, "port", ""));
        modes = words.getOrDefault("modes", List.of("text/plain"));
        outputModes = words.getOrDefault("output-modes", List.of("text/plain"));
        finishing = words.containsKey("hang") ? Integer.parseInt(one(words, "hang", "0")) : Integer.MAX_VALUE;
        workMillis = Math.round(Double.parseDouble(one(words, "work", "0")) * 1000);
        log = one(words, "log", "");
        nonce = one(words, "nonce", "");
    }

    static Options read(String... arguments) {
        Map<String, List<String>> words = new LinkedHashMap<>();
        String last = null;
        for (String word : arguments) {
            if (word.equals("--help")) {
                System.out.println("options: --" + String.join(" --", KNOWN));
                System.exit(0);
            }
            if (word.startsWith("--")) {
                last = word.substring(2);
                if (!KNOWN.contains(last)) {
                    usage("unrecognized arguments: " + word);
                }
                words.put(last, new ArrayList<>());
            } else if (last == null) {
                usage("unrecognized arguments: " + word);
            } else {
                words.get(last).add(word);
            }
        }
        if (!words.containsKey("port")) {
            usage("--port is required");
        }
        if (!one(words, "mount", "/").equals("/")) {
            usage("the reference server serves its endpoint at / only");
        }
        given = new Options(words);
        return given;
    }

    String url() {
        return "http://127.0.0.1:" + port + "/";
    }

    private static String one(Map<String, List<String>> words, String name, String otherwise) {
        List<String> found = words.getOrDefault(name, List.of());
        return found.isEmpty() ? otherwise : found.get(0);
    }

    private static void usage(String problem) {
        System.err.println("error: " + problem);
        System.exit(2);
    }
}
