// A consumer on @a2a-js/sdk 0.3.14: its ClientFactory finds the card and chooses the interface.

import { randomUUID } from 'node:crypto';
import { ClientFactory } from '@a2a-js/sdk/client';
import { consumerOptions, payloadOf, run } from './consumer_kit.mjs';

function partOf({ kind, mode, text, data, raw }) {
  if (kind === 'text') return { kind, text };
  // This line's data parts hold objects.
  if (kind === 'data') return { kind, data: typeof data === 'object' && data && !Array.isArray(data) ? data : { value: data } };
  return { kind: 'file', file: { bytes: raw.toString('base64'), mimeType: mode } };
}

const textOf = (parts) => (parts ?? []).map((part) => {
  if (part?.kind === 'text') return part.text;
  return part?.kind === 'data' ? JSON.stringify(part.data) : `[file ${part?.file?.mimeType ?? 'untyped'}]`;
}).join('');

const artifactOf = (artifact) => [artifact?.artifactId, textOf(artifact?.parts)];

function note(seen, event) {
  seen.event();
  if (event?.kind === 'task') {
    seen.status(event.status?.state);
    seen.snapshot((event.artifacts ?? []).map(artifactOf));
  } else if (event?.kind === 'message') seen.message(textOf(event.parts));
  else if (event?.kind === 'status-update') seen.status(event.status?.state);
  else if (event?.kind === 'artifact-update') seen.artifact(...artifactOf(event.artifact), Boolean(event.append));
  else seen.nothingInIt();
}

async function converse(options, seen) {
  const client = await new ClientFactory().createFromUrl(options.url, options.cardPath);
  const request = { message: { kind: 'message', messageId: randomUUID(), role: 'user', parts: [partOf(payloadOf(options))] } };
  const call = { signal: AbortSignal.timeout(options.timeoutMs) };
  if (options.op === 'send') note(seen, await client.sendMessage(request, call));
  else for await (const event of client.sendMessageStream(request, call)) note(seen, event);
}

await run(converse, consumerOptions());
