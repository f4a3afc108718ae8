package lab.echo;

import io.a2a.server.PublicAgentCard;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentSkill;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import java.util.List;

/** The card, unsigned. */
@ApplicationScoped
public class Card {
    @Produces
    @PublicAgentCard
    public AgentCard card() {
        Options options = Options.given;
        AgentSkill skill = new AgentSkill.Builder()
                .id("echo")
                .name("Echo")
                .description("Answers with what it was told")
                .tags(List.of("echo"))
                .inputModes(options.modes)
                .outputModes(options.outputModes)
                .build();
        return new AgentCard.Builder()
                .name("echo")
                .description("Answers with what it was told")
                .version("1.0.0")
                .url(options.url())
                .protocolVersion("0.3.0")
                .capabilities(new AgentCapabilities.Builder().streaming(true).build())
                .defaultInputModes(options.modes)
                .defaultOutputModes(options.outputModes)
                .skills(List.of(skill))
                .build();
    }
}
