/** Seeded bugs: each takes a mend away that stands against a liar, and must be caught by an attack or by the search. */
import type { Patched } from '../simulation/mutantSource.ts'

/** A bug, and the attack that is known to show it. */
export interface AdversaryMutant extends Patched {
  readonly attack: string
}

type Patch = readonly [file: string, find: string, replace: string]

function bug(name: string, attack: string, ...patches: readonly Patch[]): AdversaryMutant {
  return { name, attack, patches: patches.map(([file, find, replace]) => ({ file, find, replace })) }
}

const trustsAll: Patch = [
  'src/risk/checks/trustedMarkets.ts',
  'if (!classified.adds || untrusted === undefined) return undefined',
  "if (untrusted !== '') return undefined",
]
/** No facts of hosts keep anything from being signed. */
const signsAll: Patch = [
  'src/daemon/wiring/wireRoad.ts',
  'trading.veto(intent) ?? catalogue.veto(intent) ?? subaccount',
  'trading.veto(intent) ?? subaccount',
]
const book: Patch = [
  'src/risk/exposure/accountExposure.ts',
  'hosts, withoutUnseen(journal, open, snapshot))',
  'hosts)',
]
const hidden: Patch = [
  'src/engine/judging/judgeDecision.ts',
  'return hiddenOn(facts, decision)',
  'return facts.nowMs < 0 ? hiddenOn(facts, decision) : undefined',
]
const paused: Patch = [
  'src/engine/judging/judgeDecision.ts',
  'discrepancies.find(({ marketToken }) => sameHex(marketToken, decision.marketToken))',
  "discrepancies.find(({ marketToken }) => marketToken === '')",
]
const verifyOrder = 'src/execution/verify/verifyOrder.ts'

/** All of them. */
export const adversaryMutants: readonly AdversaryMutant[] = [
  bug(
    'tokens are what hosts say',
    'a coin of 8 decimals makes a hundred times the collateral',
    [
      'src/market/pinnedApi.ts',
      'if (known === undefined) return withOwnName(row, tokens)',
      'if (known === undefined || row.decimals >= 0) return row',
    ],
    trustsAll,
    signsAll,
  ),
  bug(
    'markets are what hosts call them',
    'the name of one market on the tokens of another',
    [
      'src/market/pinnedApi.ts',
      '  const { symbol, indexToken, longToken, shortToken } = known\n  return { ...row, symbol, indexToken, longToken, shortToken, isSpotOnly: isSwapOnly(known) }',
      '  return row',
    ],
    trustsAll,
    signsAll,
  ),
  bug('held is what a list shows', 'positions that are hidden make a limit grow', book, hidden, paused),
  bug(
    'a liquidation is what a host says',
    'positions that are hidden, and their liquidations made up',
    [
      'src/account/proofs.ts',
      'const open = trades.filter(({ id }) => !proven.has(id))',
      "const open = trades.filter(({ id }) => id === '')",
    ],
    hidden,
    paused,
  ),
  bug('a kill is done when the lists are empty', 'a kill that hosts call done', [
    'src/tasks/killTask.ts',
    'hiddenSides: close ? sidesNotShown(journal, [...held, ...elsewhere]) : [],',
    'hiddenSides: sidesNotShown(journal, [...held, ...elsewhere]).filter(({ sizeUsd }) => sizeUsd < 0n),',
  ]),
  bug('losses are what lists show', 'balances that never fall hide what was realized', [
    'src/risk/breakers/circuitBreakers.ts',
    'const over = [...fallen, realized].filter(',
    'const over = fallen.filter(',
  ]),
  bug('a liquidation is no loss of the day', 'liquidations are hidden by balances that never fall', [
    'src/account/watch/watchedAccount.ts',
    '    dayResult.addDiscrepancies(trading.accountJournal.state(), nowMs)\n',
    '',
  ]),
  bug('a swap loses nothing', 'swaps that nobody counts', [
    'src/account/watch/dayResult.ts',
    'return (pnlUsd ?? swapResultUsd ?? -feesUsd) + fundingReceivedUsd',
    'return (pnlUsd ?? (swapResultUsd === undefined ? -feesUsd : 0n)) + fundingReceivedUsd',
  ]),
  bug('what one host shows is there', 'positions that are not there are closed again and again', [
    'src/account/holdings/holdings.ts',
    'return isAdopted || ownOf(closed, open, side) || vouched.has(key)',
    "return isAdopted || ownOf(closed, open, side) || key !== ''",
  ]),
  bug('an edit copies what a row says', 'an edit that copies any price from a row', [
    'src/risk/sizing/orderChangePlan.ts',
    '  const isOther = otherThanSigned(order, signed, context)\n  if (isOther !== undefined) return isOther\n  const orderType = editableTypes',
    '  const orderType = editableTypes',
  ]),
  bug('discrepancies have no ceiling', 'executions that never were, by the thousand', [
    'src/account/watch/discrepancyRate.ts',
    'return Math.max(\n    0,\n    Math.min(perPass, perHour - ofHour, perDay - ofDay, discrepancyLimits.unsettled - unsettled),\n  )',
    'return Math.max(1e6, Math.min(perPass, perHour - ofHour, perDay - ofDay, discrepancyLimits.unsettled - unsettled))',
  ]),
  bug('the receiver is not looked at', 'an order that pays somebody else', [
    verifyOrder,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a source
    '  differences.hex(`${at}.addresses.receiver`, account, addresses.receiver)\n',
    '',
  ]),
  bug('the size is not looked at', 'an order twice as large', [
    verifyOrder,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a source
    '  checkSize(differences, `${at}.numbers.sizeDeltaUsd`, rule.size, numbers.sizeDeltaUsd)\n',
    '',
  ]),
  bug('the collateral is not looked at', 'collateral five times as much', [
    verifyOrder,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a source
    '  checkCollateral(differences, `${at}.numbers.initialCollateralDeltaAmount`, rule, numbers)\n',
    '',
  ]),
  bug('prices have no bound', 'a price a tenth worse', [
    'src/execution/context/verifyPrice.ts',
    "if (rule.kind === 'unchecked') return",
    "if (rule.kind === 'unchecked' || found > 0n) return",
  ]),
  bug("a day's impact has no bound", 'a market without depth, and prices as bad as that allows', [
    'src/engine/judging/judgeDecision.ts',
    '...(isOperator ? {} : impactLeft(',
    "...(isOperator || name !== '' ? {} : impactLeft(",
  ]),
  bug('a swap may give nothing', 'a swap for next to nothing', [
    verifyOrder,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a source
    '  checkMinOutput(differences, `${at}.numbers.minOutputAmount`, rule.minOutput, numbers.minOutputAmount)\n',
    '',
  ]),
  bug('a relay fee has no bound', 'a relay fee of twenty times', [
    'src/execution/verify/verifyRelayParams.ts',
    '    relayFeeLimit(policy, intent) * paid,\n',
    '    relayFeeLimit(policy, intent) * paid * 1_000n,\n',
  ]),
  bug('a full disk gets nothing of the ballast', 'a disk that is filled, and a daemon that is killed on it', [
    'src/journal/ballast.ts',
    '  if (!isDiskFull(error)) return false\n',
    '  if (isDiskFull(error) || error !== undefined) return false\n',
  ]),
  bug("the guard's table gets no room", 'a disk that is filled, and a daemon that is killed on it', [
    'src/journal/sqlite/sqliteStore.ts',
    '      makeRoom: (error) => this.#makeRoom(error),\n',
    '',
  ]),
  bug('a taken port ends the daemon', 'a port that somebody else has before the daemon starts', [
    'src/control/server.ts',
    'if (!(error instanceof ControlPortError)) throw error\n      first ??=',
    'if (error instanceof Error) throw error\n      first ??=',
  ]),
]
