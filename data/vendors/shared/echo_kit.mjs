// What the Node echo agents have in common: their options, their request log, and how they are served.
// The same options as echo_kit.py, read the same way; knows no SDK beyond express, which the agents hand in.

import { appendFileSync, readFileSync } from 'node:fs';

const HOST = '127.0.0.1';
const NONCE_HEADER = 'X-A2A-Lab-Nonce';
// Headers that say how a client behaves; anything that may carry a credential is left out.
const LOGGED_HEADERS = ['a2a-version', 'a2a-extensions', 'accept', 'content-type', 'if-none-match', 'user-agent', 'x-tenant'];

// Names of options that take one value, several, at most one, or none.
const KINDS = {
  port: 'one', mount: 'one', 'interface-slash': 'none', modes: 'many', 'output-modes': 'many',
  hang: 'optional', work: 'one', log: 'one', nonce: 'one', help: 'none',
};

function usage(kinds) {
  const shape = { one: ' VALUE', many: ' VALUE...', optional: ' [VALUE]', none: '' };
  return `usage: agent.mjs ${Object.entries(kinds).map(([name, kind]) => `[--${name}${shape[kind]}]`).join(' ')}`;
}

function fail(kinds, problem) {
  console.error(`${usage(kinds)}\nagent.mjs: error: ${problem}`);
  process.exit(2);
}

// The options of the command line, with defaults; `more` names options of one agent, as in KINDS.
export function echoOptions(more = {}) {
  const kinds = { ...KINDS, ...more };
  const given = {};
  for (const word of process.argv.slice(2)) {
    const last = Object.keys(given).at(-1);
    if (word.startsWith('--')) {
      const name = word.slice(2);
      if (!(name in kinds)) fail(kinds, `unrecognized arguments: ${word}`);
      delete given[name];
      given[name] = [];
    } else if (last === undefined || kinds[last] === 'none' || (kinds[last] !== 'many' && given[last].length === 1)) {
      fail(kinds, `unrecognized arguments: ${word}`);
    } else {
      given[last].push(word);
    }
  }
  if ('help' in given) {
    console.log(usage(kinds));
    process.exit(0);
  }
  for (const [name, values] of Object.entries(given)) {
    if ((kinds[name] === 'one' || kinds[name] === 'many') && !values.length) fail(kinds, `--${name} needs a value`);
  }
  if (!given.port) fail(kinds, '--port is required');
  const one = (name, otherwise) => (given[name] ? given[name][0] : otherwise);
  const flags = Object.keys(more).map((name) => [name, more[name] === 'none' ? name in given : one(name)]);
  return {
    ...Object.fromEntries(flags),
    port: Number(one('port')),
    mount: one('mount', '/'),
    interfaceSlash: 'interface-slash' in given,
    modes: given.modes ?? ['text/plain'],
    outputModes: given['output-modes'] ?? ['text/plain'],
    hang: 'hang' in given ? Number(one('hang', '0')) : Infinity,
    work: Number(one('work', '0')) * 1000,
    log: one('log'),
    nonce: one('nonce', ''),
  };
}

// Where the card says that the endpoint is.
export function interfaceUrl({ port, mount, interfaceSlash }) {
  return `http://${HOST}:${port}${mount}${interfaceSlash && !mount.endsWith('/') ? '/' : ''}`;
}

// The private JWK in the file and the protected header to sign with.
export function signingKey(path) {
  const key = JSON.parse(readFileSync(path, 'utf8'));
  const missing = ['kid', 'alg', 'd'].filter((name) => !(name in key));
  if (missing.length) throw new Error(`${path}: not a private JWK with kid and alg; missing: ${missing.join(', ')}`);
  return [key, { alg: key.alg, kid: key.kid, typ: 'JOSE' }];
}

// Decides how long a task takes: a pause before each event, and tasks that never finish until they are cancelled.
export class Pace {
  #finishing;
  #pause;
  #held = new Map();

  constructor({ hang, work }) {
    this.#finishing = hang;
    this.#pause = work;
  }

  pause() {
    return this.#pause ? new Promise((resolve) => setTimeout(resolve, this.#pause)) : undefined;
  }

  // False when the task was cancelled while it hung.
  async work(taskId) {
    this.#finishing -= 1;
    if (this.#finishing >= 0) return true;
    await new Promise((resolve) => this.#held.set(taskId, resolve));
    return false;
  }

  release(taskId) {
    this.#held.get(taskId)?.();
    this.#held.delete(taskId);
  }
}

function rpcMethod(body) {
  try {
    const method = JSON.parse(body)?.method;
    return typeof method === 'string' ? method : null;
  } catch {
    return null;
  }
}

// Express middleware, to be used before all else: stamps every response, and writes every request down.
// The body is only listened to: whoever parses it afterwards sees all of it.
export function recorded({ log, nonce }) {
  return (request, response, next) => {
    if (nonce) response.setHeader(NONCE_HEADER, nonce);
    if (log) {
      const chunks = [];
      const at = Date.now() / 1000;
      const { method, path } = request;
      const headers = Object.fromEntries(LOGGED_HEADERS.filter((name) => name in request.headers).map((name) => [name, request.headers[name]]));
      const write = () => {
        const body = Buffer.concat(chunks);
        appendFileSync(log, `${JSON.stringify({ at, method, path, headers, rpc: rpcMethod(body.toString()), bytes: body.length })}\n`, { mode: 0o600 });
      };
      if (method === 'GET' || method === 'HEAD') {
        write(); // nothing reads a body here, so its end would never be seen
      } else {
        const push = request.push.bind(request);
        request.push = (chunk, encoding) => {
          if (chunk === null) write();
          else chunks.push(Buffer.from(chunk, encoding));
          return push(chunk, encoding);
        };
      }
    }
    next();
  };
}

// Serve until the process is told to end. Open streams do not hold the end up: they may never finish.
export function serve(app, { port }) {
  const server = app.listen(port, HOST, (error) => {
    if (error) throw error;
  });
  process.on('SIGTERM', () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
}
