package redleaf;

import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/** How a client program talks to the runner: lines on standard output, settings from the environment. */
final class Report {
    private static final String ADDR = System.getenv("REDLEAF_ADDR");
    static final String HOST = ADDR.substring(0, ADDR.lastIndexOf(':'));
    static final int PORT = Integer.parseInt(ADDR.substring(ADDR.lastIndexOf(':') + 1));
    /** Empty for none. */
    static final String PASSWORD = System.getenv("REDLEAF_PASSWORD");
    static final String OWN = "segment:" + System.getenv("REDLEAF_TAG");
    static final String SHARED = "segment:" + System.getenv("REDLEAF_SHARED");
    static final String SNOWFLAKE = "snowflake:" + System.getenv("REDLEAF_TAG");

    private final PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false);

    /** The version is the one that the library's jar is named with. */
    Report(Class<?> library, String artifact) {
        String jar = library.getProtectionDomain().getCodeSource().getLocation().getPath();
        tell("version", jar.replaceAll(".*/" + artifact + "-|\\.jar$", ""));
    }

    void tell(String kind, Object word) {
        out.println(kind + " " + String.valueOf(word).replace('\n', ' '));
    }

    void tellAll(String kind, List<?> words) {
        words.forEach(word -> tell(kind, word));
    }

    /** Draws until the server went away and came back, and 10 ids more. */
    void outage(Callable<Long> draw) throws InterruptedException {
        tell("ready", "");
        Path flag = Path.of(System.getenv("REDLEAF_UP"));
        int failed = 0;
        String example = "";
        for (int after = 0; after < 10; ) {
            out.flush();
            boolean up = Files.exists(flag);
            try {
                tell("shared", draw.call());
                after += up ? 1 : 0;
            } catch (Exception e) {
                failed++;
                example = e.toString();
                Thread.sleep(20);
            }
        }
        tell("failed", failed + " " + example);
        out.flush();
    }
}
