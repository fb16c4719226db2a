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
  'host.cooldown': registered(['warn'], 'A host is in cooldown.', ['host', 'cooldown_ms', 'reason']),
  'host.prices': registered(['info', 'warn'], 'The prices of an oracle host are stale, or fresh again.', [
    'host',
    'age_ms',
  ]),
  'rows.missing': registered(['warn'], 'Rows of a list cannot be read; perpd uses the others.', [
    'host',
    'route',
    'rows',
    'problem',
    'market_token',
    'token',
  ]),
  'rows.foreign': registered(['warn'], 'Rows of another account were dropped.', ['host', 'route', 'rows']),
  'price.fallback': registered(['warn'], 'A reduction uses a price other than a fresh oracle price.', [
    'market',
    'source',
    'age_ms',
  ]),
  'price.contested': registered(
    ['warn'],
    'Hosts differ on the price of a reduction; it is signed within the band of those that agree.',
    ['market', 'lowest', 'highest', 'taken', 'left_out'],
  ),
  'evidence.chosen': registered(['info', 'warn'], 'The source of evidence in this run.', [
    'source',
    'endpoints',
    'is_weak',
  ]),
  'chain.read': registered(['debug', 'warn'], 'One request to a chain endpoint; at warn, it failed.', [
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
  'chain.time': registered(['debug', 'warn'], "An endpoint's time; at warn, perpd ignores it.", [
    'endpoint',
    'ahead_seconds',
    'is_set_aside',
    'healthy',
  ]),
  'feed.read': registered(['debug'], 'A feed was read.', ['feed', 'age_ms']),
  'capacity.read': registered(['debug'], 'Capacity for increases on one side of a market.', [
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
    'A position is unmanaged: its strategies do not run; at info, this ended.',
    ['market', 'direction', 'size_usd', 'made_by', 'seen_by', 'is_over'],
  ),
  'account.discrepancy': registered(
    ['warn', 'error'],
    'A discrepancy: the journal cannot explain a change of the account; at error, increases there wait.',
    discrepancyFields,
  ),
  'account.discrepanciesDeferred': registered(
    ['info', 'error'],
    'Discrepancies that are not recorded yet; at info, all are.',
    ['held', 'journal_short'],
  ),
  'account.booksDiffer': registered(['error'], 'The books do not match the journal: a bug in perpd.', [
    'market_token',
    'direction',
    'books_usd',
    'expected_usd',
    'books_tokens',
    'expected_tokens',
  ]),
  'account.booksAgree': registered(['info'], 'The books match the journal again.', [
    'market_token',
    'direction',
  ]),
  'account.discrepancySettled': registered(['info'], 'A discrepancy was settled.', [
    ...discrepancyFields,
    'settled_as',
  ]),
  'account.equityJumped': registered(['warn'], 'A reading of the equity is far from the last minute.', [
    'reading_usd',
    'equity_usd',
  ]),
  'account.transferred': registered(
    ['info', 'warn'],
    'A deposit, or, at warn, a withdrawal that no order explains.',
    ['amount_usd', 'equity_usd'],
  ),
  'market.contradicted': registered(
    ['error'],
    'Hosts contradict the pinned facts of a market; increases there wait.',
    ['hosts', 'symbols', 'contradictions'],
  ),
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
  'subaccount.read': registered(['debug'], "Remaining actions of a subaccount's approval.", [
    'remaining_actions',
    'needed_actions',
    'expires_at_s',
  ]),
  'subaccount.unread': registered(['error'], 'The file of the approval cannot be used.', ['reason']),
  'subaccount.fileRight': registered(
    ['info'],
    'The unusable file of the approval is valid again or gone.',
    [],
  ),
  'subaccount.low': registered(['warn', 'error'], 'The approval ends soon; at error, it has ended.', [
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
  'claim.read': registered(['debug'], 'The claimable amounts were read.', ['worth_usd']),
  'claim.prepared': registered(['warn'], 'A file has the unsigned calls that claim due amounts.', [
    'file',
    'worth_usd',
    'calls',
    'pairs',
  ]),
  'claim.over': registered(['info'], 'The amounts in the file of claims were claimed.', ['file']),
  'kill.step': registered(
    ['warn', 'error'],
    'Progress of a kill; at error, it makes none, or ended without proof.',
    ['step', 'positions', 'reason'],
  ),
  'limits.changed': registered(['warn'], 'An operator changed limits while perpd runs.', ['by']),
  'limits.started': registered(
    ['info', 'warn'],
    'This run has other limits than the last; at warn, looser ones.',
    ['is_looser'],
  ),
  'trading.state': registered(
    ['info', 'warn'],
    'The trading state changed; at info, trading is active again.',
    ['scope', 'state_to', 'reason'],
  ),
} as const satisfies Readonly<Record<(VenueEvent | AccountEvent)['type'], RegisteredEvent>>
