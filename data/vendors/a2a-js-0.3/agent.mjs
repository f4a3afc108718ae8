// An echo agent on @a2a-js/sdk 0.3.14, deterministic and without a model.
// A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
// doing; options choose what a deployment may choose, or make the executor misbehave.

import { AGENT_CARD_PATH } from '@a2a-js/sdk';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { echoOptions, interfaceUrl, Pace, recorded, serve } from './echo_kit.mjs';

const options = echoOptions();
const now = () => new Date().toISOString();
const described = (part) => (part.kind === 'text' ? part.text : `[${part.kind}]`);

// Answers with what it was told: the text as it came, other parts by their kind.
class Echo {
  #pace = new Pace(options);
  #contexts = new Map();

  async execute({ taskId, contextId, userMessage, task }, bus) {
    this.#contexts.set(taskId, contextId);
    const move = (state, final) => bus.publish({ kind: 'status-update', taskId, contextId, final, status: { state, timestamp: now() } });
    if (!task) bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'submitted', timestamp: now() }, history: [userMessage] });
    await this.#pace.pause();
    move('working', false);
    if (!(await this.#pace.work(taskId))) return;
    const chunks = ['echo: ', userMessage.parts.map(described).join(' ')];
    for (const [index, chunk] of chunks.entries()) {
      await this.#pace.pause();
      bus.publish({
        kind: 'artifact-update', taskId, contextId, append: index > 0, lastChunk: index === chunks.length - 1,
        artifact: { artifactId: 'echo', name: 'echo', parts: [{ kind: 'text', text: chunk }] },
      });
    }
    await this.#pace.pause();
    move('completed', true);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    const contextId = this.#contexts.get(taskId) ?? '';
    bus.publish({ kind: 'status-update', taskId, contextId, final: true, status: { state: 'canceled', timestamp: now() } });
    bus.finished();
    this.#pace.release(taskId);
  }
}

const card = {
  name: 'echo', description: 'Answers with what it was told', protocolVersion: '0.3.0', version: '1.0.0',
  url: interfaceUrl(options), preferredTransport: 'JSONRPC',
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: options.modes, defaultOutputModes: options.outputModes,
  skills: [{
    id: 'echo', name: 'Echo', description: 'Answers with what it was told', tags: ['echo'],
    inputModes: options.modes, outputModes: options.outputModes,
  }],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Echo());
const app = express();
app.use(recorded(options));
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
app.use(options.mount, jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
serve(app, options);
