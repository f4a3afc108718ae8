// An echo agent on @a2a-js/sdk 1.3.0, deterministic and without a model.
// A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
// doing; options choose what a deployment may choose, or make the executor misbehave.

import { AGENT_CARD_PATH, TaskState, generateAgentCardSignature } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { echoOptions, interfaceUrl, Pace, recorded, serve, signingKey } from './echo_kit.mjs';

const options = echoOptions({ compat: 'none', sign: 'one', tamper: 'none', 'card-name': 'one' });
const now = () => new Date().toISOString();
const described = ({ content, mediaType }) => (content?.$case === 'text' ? content.value : `[${content?.$case} ${mediaType || 'untyped'}]`);
const text = (value) => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' });

// Answers with what it was told: the text as it came, other parts by their kind and type.
class Echo {
  #pace = new Pace(options);
  #contexts = new Map();

  async execute({ taskId, contextId, userMessage, task }, bus) {
    this.#contexts.set(taskId, contextId);
    const status = (state) => ({ state, message: undefined, timestamp: now() });
    const move = (state) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }));
    if (!task) {
      bus.publish(AgentEvent.task({ id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage], metadata: undefined }));
    }
    await this.#pace.pause();
    move(TaskState.TASK_STATE_WORKING);
    if (!(await this.#pace.work(taskId))) return;
    const chunks = ['echo: ', userMessage.parts.map(described).join(' ')];
    for (const [index, chunk] of chunks.entries()) {
      await this.#pace.pause();
      bus.publish(AgentEvent.artifactUpdate({
        taskId, contextId, append: index > 0, lastChunk: index === chunks.length - 1, metadata: undefined,
        artifact: { artifactId: 'echo', name: 'echo', description: '', parts: [text(chunk)], metadata: undefined, extensions: [] },
      }));
    }
    await this.#pace.pause();
    move(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    const contextId = this.#contexts.get(taskId) ?? '';
    bus.publish(AgentEvent.statusUpdate({
      taskId, contextId, metadata: undefined,
      status: { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: now() },
    }));
    bus.finished();
    this.#pace.release(taskId);
  }
}

async function echoCard() {
  const versions = options.compat ? ['1.0', '0.3'] : ['1.0'];
  let card = {
    name: options['card-name'] ?? 'echo', description: 'Answers with what it was told', version: '1.0.0',
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    supportedInterfaces: versions.map((protocolVersion) => ({ protocolBinding: 'JSONRPC', protocolVersion, url: interfaceUrl(options), tenant: '' })),
    defaultInputModes: options.modes, defaultOutputModes: options.outputModes,
    securitySchemes: {}, securityRequirements: [], signatures: [],
    skills: [{
      id: 'echo', name: 'Echo', description: 'Answers with what it was told', tags: ['echo'], examples: [],
      inputModes: options.modes, outputModes: options.outputModes, securityRequirements: [],
    }],
  };
  if (options.sign) card = await generateAgentCardSignature(...signingKey(options.sign))(card);
  if (options.tamper) card.description += ', and was changed after signing';
  return card;
}

const requestHandler = new DefaultRequestHandler(await echoCard(), new InMemoryTaskStore(), new Echo());
const legacyCompat = options.compat ? { enabled: true } : undefined;
const app = express();
app.use(recorded(options));
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
app.use(options.mount, jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
serve(app, options);
