// A consumer on @a2a-js/sdk 1.3.0: its ClientFactory finds the card and chooses the interface; with --compat also 0.3.

import { randomUUID } from 'node:crypto';
import { Role, taskStateToJSON } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { consumerOptions, payloadOf, run } from './consumer_kit.mjs';

function partOf({ kind, mode, text, data, raw }) {
  const value = { text, data, raw }[kind];
  return { content: { $case: kind, value }, metadata: undefined, filename: '', mediaType: mode };
}

const textOf = (parts) => (parts ?? []).map(({ content, mediaType }) => {
  if (content?.$case === 'text') return content.value;
  return content?.$case === 'data' ? JSON.stringify(content.value) : `[${content?.$case} ${mediaType || 'untyped'}]`;
}).join('');

const stateOf = (status) => (status ? taskStateToJSON(status.state) : undefined);
const artifactOf = (artifact) => [artifact?.artifactId, textOf(artifact?.parts)];

function noteTask(seen, task) {
  seen.status(stateOf(task.status));
  seen.snapshot((task.artifacts ?? []).map(artifactOf));
}

// An answer to a send is a task or a message, not wrapped in anything.
function noteAnswer(seen, answer) {
  seen.event();
  if (answer?.status) noteTask(seen, answer);
  else if (answer?.parts) seen.message(textOf(answer.parts));
  else seen.nothingInIt();
}

function noteEvent(seen, event) {
  seen.event();
  const { $case, value } = event?.payload ?? {};
  if ($case === 'task') noteTask(seen, value);
  else if ($case === 'message') seen.message(textOf(value?.parts));
  else if ($case === 'statusUpdate') seen.status(stateOf(value?.status));
  else if ($case === 'artifactUpdate') seen.artifact(...artifactOf(value?.artifact), Boolean(value?.append));
  else seen.nothingInIt();
}

async function converse(options, seen) {
  const legacyCompat = options.compat ? { enabled: true } : undefined;
  const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  }));
  const client = await factory.createFromUrl(options.url, options.cardPath);
  const message = {
    messageId: randomUUID(), role: Role.ROLE_USER, parts: [partOf(payloadOf(options))],
    contextId: '', taskId: '', extensions: [], metadata: undefined, referenceTaskIds: [],
  };
  const request = { tenant: '', message, configuration: undefined, metadata: undefined };
  const call = { signal: AbortSignal.timeout(options.timeoutMs) };
  if (options.op === 'send') noteAnswer(seen, await client.sendMessage(request, call));
  else for await (const event of client.sendMessageStream(request, call)) noteEvent(seen, event);
}

await run(converse, consumerOptions({ compat: 'none' }));
