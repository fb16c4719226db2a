/** Every threat of docs/security.md and docs/hardening.md, and every figure of docs/reference/bounds.md, has tests that hold its control. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { pageText } from '../support/docPages.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** The tests of each threat, by its heading. */
const heldBy: Readonly<Record<string, string>> = {
  'A host sends something else to sign':
    'execution/payloads execution/rules/rules execution/accepted messages/shapes execution/verify execution/feeMemory execution/fees protocol/feeFormula protocol/eip712 contract/hashing',
  'A host lies about the end of an order, a position or a price':
    'execution/orderManager api/priceSanity risk/admit',
  'A host hides or invents positions':
    'world/hidden engine/held engine/unproven account/equity risk/breakers execution/feeMemory',
  'A host lies about a market or a token':
    'engine/markets market/catalogue chain/marketProof protocol/pins engine/delisted',
  'A host answers with what no venue sends': 'api/deep api/hostile fuzz/readers',
  'A host floods': 'engine/flood monitor/logRateLimit journal/diskSpace',
  'A chain endpoint lies': 'chain/hostile chain/contractCode execution/chain',
  'The clock of a host is wrong': 'domain/clockSkew',
  'A host adds to the count that an owner approves': 'cli/approve',
  'The owner is made to sign something else in a wallet': 'cli/message',
  'One order is signed twice': 'keys/signingGuard world/subaccount',
  'A configured name leads elsewhere':
    'domain/networkAddress api/nodeFetch chain/socketAddress api/errorsTable cli/control config/config',
  'A strategy fails, is slow or hostile':
    'world/ownKinds strategy/hostKind engine/engine strategy/decisionProblem risk/kinds',
  'Trading runs away':
    'risk/limits risk/breakers domain/trading operator/operator world/breakers world/killSwitch',
  'It must stop now': 'world/killSwitch operator/operator',
  'A signature of paper is used on the live chain': 'config/config keys/local cli/approve world/badInput',
  'A dependency is poisoned': 'dependencies deploy',
  'What one host alone decides': 'engine/unproven execution/feeMemory',
  'The key on the machine is stolen':
    'execution/subaccount execution/verifyApproval execution/removal cli/revoke world/subaccount',
  'The key is read from disk, or swapped': 'keys/keystore keys/privateFile keys/local config/config',
  'The password is seen': 'keys/password cli/keys',
  'A key stands in the arguments of the process': 'config/config',
  'A secret stands in a log, journal, metric, page, error or file': 'domain/secret monitor/log world/canary',
  'The key is taken from memory, a core or the swap': 'world/hardening deploy',
  'Node runs other code or writes keys down': 'cli/hardening world/hardening',
  'The Node that holds the key': 'cli/hardening',
  'The remote signer is wrong, slow or taken over': 'keys/remote keys/remoteTls',
  'Another user plants files':
    'keys/trustedPath world/planted keys/privateFile config/config strategy/load world/consoleForeign',
  'A trigger, view or link is planted': 'journal/planted',
  'A name turns a screen around': 'domain/shownText',
  "A program takes the daemon's place": 'control/proof cli/control world/planted',
  'A web page or program reaches the control port': 'control/attack control/server cli/control',
  "Somebody uses an operator's browser session":
    'world/consoleForeign control/consoleSession control/consoleAssets control/consoleStream',
  'A signal from outside is forged or repeated':
    'control/tradeSignals engine/tradeSignals world/tradeSignals',
  'A notification gives a secret away, or a service stalls trading': 'notify/sinks cli/notifyTest',
  "A web page reaches the paper venue's control address": 'paper/controlGuard',
  'The process is broken into': 'deploy',
}

const headings = ['docs/security.md', 'docs/hardening.md'].flatMap((page) =>
  [...pageText(page).matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading),
)

test('every threat has tests, and every test is there', () => {
  expect(headings.toSorted()).toEqual(Object.keys(heldBy).toSorted())
  for (const path of Object.values(heldBy).flatMap((names) => names.split(' ')))
    expect(existsSync(join(root, 'test', `${path}.test.ts`)), path).toBe(true)
})

test('every row of docs/reference/bounds.md names tests that are there', () => {
  const rows = pageText('docs/reference/bounds.md')
    .split('\n')
    .filter((line) => /^\| (?!figure|who lies|---)/.test(line))
  expect(rows.length).toBeGreaterThan(30)
  const gone = rows.flatMap((row) => {
    const tests = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path)
    const missing = tests.filter((path) => !existsSync(join(root, path)))
    return tests.length === 0 ? [`no test: ${row}`] : missing
  })
  expect(gone).toEqual([])
})
