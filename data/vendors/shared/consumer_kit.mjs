// What the Node consumers have in common: their options, what they note down, and the one line they end with.
// The same options and the same line as consumer_kit.py; knows no SDK. Whatever the SDK throws is the result's `error`,
// in full; only an error that our own lines throw is our bug, and ends the program with status 3 and no result.

import { readFileSync, writeSync } from 'node:fs';

const OWN_BUG = 3;
const SHOWN_CHARACTERS = 120; // of a text, in the sentence only
const CAUSES = 3; // fetch says "fetch failed" and keeps the reason in the cause
const KINDS = { url: 'one', op: 'one', text: 'one', mode: 'one', file: 'one', timeout: 'one', 'card-path': 'one', help: 'none' };

function usage(kinds) {
  return `usage: consumer.mjs ${Object.entries(kinds).map(([name, kind]) => `[--${name}${kind === 'one' ? ' VALUE' : ''}]`).join(' ')}`;
}

function fail(kinds, problem) {
  console.error(`${usage(kinds)}\nconsumer.mjs: error: ${problem}`);
  process.exit(2);
}

// The options of the command line, with defaults; `more` names options of one consumer, as in KINDS.
export function consumerOptions(more = {}) {
  const kinds = { ...KINDS, ...more };
  const given = {};
  const words = process.argv.slice(2);
  while (words.length) {
    const word = words.shift();
    const [name, inline] = word.slice(2).split(/=(.*)/s);
    if (!word.startsWith('--') || !(name in kinds)) fail(kinds, `unrecognized arguments: ${word}`);
    if (kinds[name] === 'none') given[name] = true;
    else if (inline !== undefined) given[name] = inline;
    else if (words.length) given[name] = words.shift();
    else fail(kinds, `--${name} needs a value`);
  }
  if (given.help) {
    console.log(usage(kinds));
    process.exit(0);
  }
  for (const name of ['url', 'op', 'text']) if (!(name in given)) fail(kinds, `--${name} is required`);
  if (!['send', 'stream'].includes(given.op)) fail(kinds, `--op is send or stream, not ${given.op}`);
  return { ...given, mode: given.mode ?? 'text/plain', timeoutMs: Number(given.timeout ?? 30) * 1000, cardPath: given['card-path'] };
}

// The text or the file, as the part of a message that its media type calls for: kind text, data or raw.
export function payloadOf({ text, file, mode }) {
  const raw = file ? readFileSync(file) : Buffer.from(text);
  if (mode.startsWith('text/')) return { kind: 'text', mode, text: raw.toString(), raw };
  if (mode !== 'application/json') return { kind: 'raw', mode, raw };
  try {
    return { kind: 'data', mode, data: JSON.parse(raw.toString()), raw };
  } catch {
    return { kind: 'data', mode, data: { text: raw.toString() }, raw };
  }
}

const shortened = (text) => {
  const line = String(text).split(/\s+/).filter(Boolean).join(' ');
  return line.length <= SHOWN_CHARACTERS ? line : `${line.slice(0, SHOWN_CHARACTERS - 3)}...`;
};

// What the SDK delivered to its caller, in the order it came.
export class Seen {
  state = null;
  events = 0;
  empty = 0;
  artifacts = new Map();
  messages = [];

  event() {
    this.events += 1;
  }

  // An event of which the SDK kept nothing.
  nothingInIt() {
    this.empty += 1;
  }

  // The task's state, as any SDK spells it.
  status(state) {
    this.state = state === undefined || state === null ? null : String(state).replace(/^TASK_STATE_/, '').toLowerCase().replaceAll('_', '-');
  }

  artifact(id, text, append = false) {
    this.artifacts.set(id, (append ? (this.artifacts.get(id) ?? '') : '') + text);
  }

  // All artifacts of the task as [id, text], replacing what was noted before.
  snapshot(artifacts) {
    this.artifacts = new Map(artifacts);
  }

  message(text) {
    this.messages.push(text);
  }

  // One sentence: what a user of this consumer would be left with.
  said(error) {
    if (error !== null) return `failed after ${this.events} event${this.events === 1 ? '' : 's'}: ${shortened(error)}`;
    if (!this.events) return 'nothing came, and the SDK reported no error';
    const parts = [this.state ?? (this.messages.length ? 'answered' : 'ended without a state')];
    for (const [id, text] of this.artifacts) parts.push(`artifact '${id}': '${shortened(text)}'`);
    for (const text of this.messages) parts.push(`message '${shortened(text)}'`);
    if (this.empty) parts.push(`${this.empty} of ${this.events} events had nothing in them`);
    return parts.join(', ');
  }

  result(error) {
    return {
      ok: error === null && this.events > 0,
      state: this.state,
      artifacts: [...this.artifacts].map(([id, text]) => ({ id: String(id), text })),
      events: this.events,
      error,
      said: this.said(error),
    };
  }
}

// Whether one of our own lines threw it, not the SDK's nor one below.
function thrownHere(error) {
  const [at] = String(error?.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return Boolean(at) && /\/consumer(_kit)?\.mjs:\d+/.test(at);
}

// The error with its class and its causes, as far as they say more.
function told(error) {
  let text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  let cause = error?.cause ?? error?.errors?.[0];
  for (let depth = 0; cause && depth < CAUSES; depth += 1, cause = cause.cause) {
    const said = cause.message || cause.code;
    if (said && !text.includes(said)) text += ` (from ${cause.name ?? 'cause'}: ${said})`;
  }
  return text;
}

function finish(result) {
  let line = Buffer.from(`\n${JSON.stringify(result)}\n`);
  while (line.length) {
    try {
      line = line.subarray(writeSync(1, line));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
  process.exit(0);
}

// Talk, and end with the result on standard output, or with status 3 where the bug is ours.
export async function run(converse, options) {
  const seen = new Seen();
  const end = (error) => {
    if (thrownHere(error)) {
      console.error(error);
      process.exit(OWN_BUG);
    }
    finish(seen.result(told(error)));
  };
  // What an SDK throws beside its own promises is reported all the same.
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
  try {
    await converse(options, seen);
  } catch (error) {
    end(error);
  }
  finish(seen.result(null));
}
