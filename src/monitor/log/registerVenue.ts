/** The register of the events of hosts, chain endpoints, the account and its markets. */
import type { AccountEvent } from '../../domain/accountEvent.ts'
import type { VenueEvent } from '../../domain/venueEvent.ts'
import { type RegisteredEvent, registered } from './registered.ts'

const discrepancyFields = [
  'discrepancy_id',
  'discrepancy_kind',
  'market_token',
  'direction',
  'size_delta_usd',
  'order_key',
  'tx_hash',
]

/** An entry for each of them; one that is missing is a type error. */
export const venueRegister = {
  'host.attempt': registered(['debug', 'warn'], 'One request to a host; at warn, it failed.', [
    'host',
    'route',
    'method',
    'attempt',
    'outcome',
    'status',
    'trace_id',
    'latency_ms',
  ]),
  'host.cooldown': registered(['warn'], 'A host is not asked for a while.', [
    'host',
    'cooldown_ms',
    'reason',
  ]),
  'host.prices': registered(['info', 'warn'], 'The prices of an oracle host stand still, or go on.', [
    'host',
    'age_ms',
  ]),
  'rows.missing': registered(['warn'], 'Rows of a list cannot be read; the rest is used.', [
    'host',
    'route',
    'rows',
    'problem',
    'market_token',
    'token',
  ]),
  'rows.foreign': registered(['warn'], 'Rows of another account were dropped.', ['host', 'route', 'rows']),
  'price.fallback': registered(
    ['warn'],
    'A reduction stands on another price than a fresh one of the oracle.',
    ['market', 'source', 'age_ms'],
  ),
  'price.contested': registered(
    ['warn'],
    'Hosts differ on the price of a reduction; it is signed within the band of those that agree.',
    ['market', 'lowest', 'highest', 'taken', 'left_out'],
  ),
  'evidence.chosen': registered(['info', 'warn'], 'What proves how orders end in this run.', [
    'source',
    'endpoints',
    'is_weak',
  ]),
  'chain.read': registered(['debug', 'warn'], 'One question to a chain endpoint; at warn, it failed.', [
    'endpoint',
    'outcome',
    'latency_ms',
    'latest_block',
    'final_block',
    'lag_blocks',
    'block_age_seconds',
    'reason',
  ]),
  'chain.skew': registered(['warn'], "The chain's time and our clock differ.", [
    'skew_seconds',
    'is_too_large',
  ]),
  'chain.time': registered(['debug', 'warn'], "An endpoint's time; at warn, it is set aside for the time.", [
    'endpoint',
    'ahead_seconds',
    'is_set_aside',
    'healthy',
  ]),
  'feed.read': registered(['debug'], 'A feed was read.', ['feed', 'age_ms']),
  'capacity.read': registered(['debug'], 'Room for increases on one side of a market.', [
    'market',
    'direction',
    'room_usd',
  ]),
  'account.positions': registered(
    ['info'],
    'Positions of the account, when one appears, goes or changes size.',
    ['positions'],
  ),
  'account.unmanaged': registered(
    ['info', 'warn'],
    'A position was made by strategies that do not run; at info, this is over.',
    ['market', 'direction', 'size_usd', 'made_by', 'seen_by', 'is_over'],
  ),
  'account.discrepancy': registered(
    ['warn', 'error'],
    'Something on the account that the journal cannot explain; at error, increases there wait.',
    discrepancyFields,
  ),
  'account.discrepanciesDeferred': registered(
    ['info', 'error'],
    'Discrepancies that are not written down yet; at info, all are.',
    ['held', 'journal_short'],
  ),
  'account.booksDiffer': registered(
    ['error'],
    'The books do not add up to the journal: a mistake of perpd.',
    ['market_token', 'direction', 'books_usd', 'expected_usd', 'books_tokens', 'expected_tokens'],
  ),
  'account.booksAgree': registered(['info'], 'The books add up to the journal again.', [
    'market_token',
    'direction',
  ]),
  'account.discrepancySettled': registered(['info'], 'A discrepancy came to its end.', [
    ...discrepancyFields,
    'settled_as',
  ]),
  'account.equityJumped': registered(['warn'], 'A reading of the equity is far from the last minute.', [
    'reading_usd',
    'equity_usd',
  ]),
  'account.transferred': registered(
    ['info', 'warn'],
    'Money came into the account, or, at warn, left it, and no order explains it.',
    ['amount_usd', 'equity_usd'],
  ),
  'market.contradicted': registered(['error'], 'Hosts contradict what a market is; increases there wait.', [
    'hosts',
    'symbols',
    'contradictions',
  ]),
  'market.settled': registered(['info'], 'Contradictions about markets ended.', ['hosts', 'symbols', 'by']),
  'market.proven': registered(['info'], 'The chain proved a market that is not shipped.', [
    'market',
    'market_token',
  ]),
  'market.trusted': registered(['warn'], 'An operator trusts a market that is not shipped.', [
    'market',
    'market_token',
    'by',
  ]),
  'subaccount.read': registered(['debug'], "What is left of a subaccount's approval.", [
    'remaining_actions',
    'needed_actions',
    'expires_at_s',
  ]),
  'subaccount.unread': registered(['error'], 'The file of the approval cannot be used.', ['reason']),
  'subaccount.fileRight': registered(
    ['info'],
    'The file of the approval, which could not be used, is right again or gone.',
    [],
  ),
  'subaccount.low': registered(['warn', 'error'], 'The approval comes to its end; at error, it is gone.', [
    'remaining_actions',
    'needed_actions',
    'seconds_left',
  ]),
  'subaccount.renewed': registered(['info'], 'An approval that was low was renewed.', [
    'remaining_actions',
    'needed_actions',
    'expires_at_s',
  ]),
  'subaccount.renewal': registered(['warn'], 'The renewal of the approval is in a file, unsigned.', [
    'file',
    'actions',
    'used_actions',
    'expires_at_s',
  ]),
  'claim.read': registered(['debug'], 'What the account may claim was read.', ['worth_usd']),
  'claim.prepared': registered(['warn'], 'The calls that claim what is due are in a file, unsigned.', [
    'file',
    'worth_usd',
    'calls',
    'pairs',
  ]),
  'claim.over': registered(['info'], 'What the file of claims named was claimed.', ['file']),
  'kill.step': registered(
    ['warn', 'error'],
    'A kill came a step further; at error, it does not get on, or ended without proof.',
    ['step', 'positions', 'reason'],
  ),
  'limits.changed': registered(['warn'], 'An operator changed limits while perpd runs.', ['by']),
  'limits.started': registered(
    ['info', 'warn'],
    'This run has other limits than the last; at warn, looser ones.',
    ['is_looser'],
  ),
  'trading.state': registered(['info', 'warn'], 'What may be traded changed; at info, all of it again.', [
    'scope',
    'state_to',
    'reason',
  ]),
} as const satisfies Readonly<Record<(VenueEvent | AccountEvent)['type'], RegisteredEvent>>
