// Verifies a signed card as a client on @a2a-js/sdk 1.3.0 does that was given a key: a signed card and a public JWK come
// in as files, one line goes out, which says whether the card could be read, whether it passed, and why not.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';

const { values } = parseArgs({ options: { card: { type: 'string' }, key: { type: 'string' } } });
const key = JSON.parse(readFileSync(values.key, 'utf8'));
const told = { ok: false, read: false, error: null };
try {
  const card = AgentCard.fromJSON(JSON.parse(readFileSync(values.card, 'utf8')));
  told.read = true;
  await verifyAgentCardSignature(async () => key)(card);
  told.ok = true;
} catch (problem) {
  told.error = `${problem.name}: ${problem.message}`.replace(/\s+/g, ' ').slice(0, 500);
}
console.log(`\n${JSON.stringify(told)}`);
