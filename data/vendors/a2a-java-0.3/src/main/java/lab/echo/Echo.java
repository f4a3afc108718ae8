package lab.echo;

import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.tasks.TaskUpdater;
import io.a2a.spec.FilePart;
import io.a2a.spec.JSONRPCError;
import io.a2a.spec.Part;
import io.a2a.spec.TextPart;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** Answers with what it was told: the text as it came, other parts by their kind. */
@ApplicationScoped
public class Echo implements AgentExecutor {
    private final AtomicInteger finishing = new AtomicInteger(Options.given.finishing);

    @Override
    public void execute(RequestContext context, EventQueue queue) throws JSONRPCError {
        TaskUpdater task = new TaskUpdater(context, queue);
        try {
            if (context.getTask() == null) {
                task.submit();
            }
            pause();
            task.startWork();
            if (finishing.getAndDecrement() <= 0) {
                new CountDownLatch(1).await();
            }
            String told = context.getMessage().getParts().stream().map(Echo::described).collect(Collectors.joining(" "));
            pause();
            task.addArtifact(List.of(new TextPart("echo: ")), "echo", "echo", null, false, false);
            pause();
            task.addArtifact(List.of(new TextPart(told)), "echo", "echo", null, true, true);
            pause();
            task.complete();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void cancel(RequestContext context, EventQueue queue) throws JSONRPCError {
        new TaskUpdater(context, queue).cancel();
    }

    private static void pause() throws InterruptedException {
        if (Options.given.workMillis > 0) {
            Thread.sleep(Options.given.workMillis);
        }
    }

    private static String described(Part<?> part) {
        if (part instanceof TextPart text) {
            return text.getText();
        }
        return part instanceof FilePart ? "[file]" : "[data]";
    }
}
