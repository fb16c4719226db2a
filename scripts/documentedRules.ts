/**
 * The sentences of the two documents that the clients must keep, each with the tests that hold it. A test compares the
 * titles with the test files, so a rule cannot lose its test unnoticed.
 */

/** One sentence of a document. */
export interface DocumentedRule {
  /** Its number, by which comments cite it: `O` of the oracle price service, `A` of the application API. */
  readonly number: string
  /** Document and section. */
  readonly section: string
  /** The sentence, shortened. */
  readonly rule: string
  /** Titles of tests in test/api, or their unmistakable beginnings, by file. */
  readonly heldBy: readonly HeldBy[]
}

type Unnumbered = Omit<DocumentedRule, 'number'>

type HeldBy = readonly [file: string, ...titles: string[]]

function section(
  name: string,
  rules: readonly (readonly [rule: string, ...heldBy: HeldBy[]])[],
): readonly Unnumbered[] {
  return rules.map(([rule, ...heldBy]) => ({ section: name, rule, heldBy }))
}

/** Counts the rules of each document. */
function numbered(rules: readonly Unnumbered[]): readonly DocumentedRule[] {
  const counts = { O: 0, A: 0 }
  return rules.map((rule) => {
    const letter = rule.section.startsWith('oracle') ? 'O' : 'A'
    counts[letter] += 1
    return { number: `${letter}${counts[letter]}`, ...rule }
  })
}

const allFields: HeldBy = [
  'wireFields',
  'every field of the wire is read',
  'a field of a newer venue changes nothing',
  'null is refused or stays nothing, it is never a zero',
  'an amount is read as it was sent, digit for digit',
]
const caches: HeldBy = ['coverage', '$name is shared for its documented cache window']
const refusals: HeldBy = ['errorsTable', '400: %s is refused once, with its words and trace id']
const unserved: HeldBy = ['errorsTable', '503: %s is told apart, repeated with backoff and at the peer']

/** Every rule, row of the Errors and Limits tables and note on fields, in the documents' order. */
export const documentedRules: readonly DocumentedRule[] = numbered([
  ...section('oracle: Resources', [
    [
      'USD price = value / 10^(30 - tokenDecimals - oracleDecimals), exact',
      ['priceSanity', 'oracle prices follow the document’s formula for every kind of token'],
      ['routes', 'oracle prices are exact USD per whole token, of tokens whose decimals are known'],
    ],
    [
      'tickers: min, max, median, oracleDecimals, updatedAt in seconds',
      allFields,
      ['freshness', 'oracle prices, yield windows'],
    ],
    ['signed prices are copied unchanged', ['slowRoutes', 'signed prices stay as they were signed']],
    [
      'a candle is five numbers',
      ['routes', 'candles come ascending'],
      ['hostile', '%s: %s is refused in words'],
    ],
    [
      'a market is open, closed or unknown',
      ['routes', 'a market status that is not open or closed is unknown'],
    ],
  ]),
  ...section('oracle: Endpoints', [
    ['1: candles come newest first', ['routes', 'candles come ascending, the running one last']],
    [
      '2: at most `limit` candles, 1 to 10000',
      ['coverage', 'markets of one index token share their candles'],
    ],
    [
      '3: /ping is 200, or 500 without the database',
      ['errorsTable', '/ping 500: an oracle without its database says so'],
    ],
    [
      'tickers tell when they were updated: old ones are a failure of their host',
      [
        'hosts',
        'a primary whose prices stand still is left for its fallbacks',
        'where no host has young prices the freshest of any host is the answer',
      ],
    ],
    [
      'retry with backoff, and the fallback hosts',
      ['rules', 'on a %s the oracle is asked again with backoff, at its fallback host'],
    ],
    ['which routes have fallback hosts is data', ['protocolRoutes', 'which hosts a route may use is data']],
  ]),
  ...section('oracle: Limits', [
    [
      'route timeout of 10 s for tickers, signed prices and candles',
      ['coverage', 'route timeouts of the oracle are its documented 10 seconds'],
      ['rules', 'a route with a documented timeout is never waited for longer'],
    ],
    [
      'response caches',
      caches,
      ['coverage', 'tickers asked within 0.3 s are one request', 'candles are cached 15 s for short periods'],
    ],
  ]),
  ...section('application: Resources', [
    [
      'market values: `updatedAt` in ms, null without a successful refresh',
      ['freshness', 'market values have the age of their older refresh'],
      ['slowRoutes', 'market rows keep the protocol’s names, signs and the age of their values'],
    ],
    ['responses are extensible; optional fields may be absent', allFields],
    [
      'capacity: amounts and two statuses; indicative',
      ['routes', 'trading capacity is asked by symbol and direction'],
      ['freshness', 'a capacity may be used as far as its statuses say'],
    ],
    [
      'the legacy liquidity must not size an increase',
      ['routes', 'tickers carry capacity, and the legacy liquidity never leaves the decoder'],
    ],
    [
      'position value, with related orders outside its block',
      ['routes', 'positions keep signs'],
      ['accountRoutes', 'positions carry their related orders only when these are asked for'],
    ],
    [
      'a side of the JIT history may be null',
      ['protocolRoutes', 'each side of the JIT history may be missing'],
    ],
    [
      'pool yield: nulls, components, the window’s end',
      ['slowRoutes', 'pool yield keeps nulls, and earnings are exact USD'],
      ['freshness', 'oracle prices, yield windows'],
    ],
    [
      'stats: usd30 texts, counts as numbers, null is never zero',
      ['protocolRoutes', 'stats keep every figure by its path', 'counts come as numbers'],
    ],
    [
      'stats: sources, completeness, provisional days, distinctness',
      ['protocolRoutes', 'a metric day by day has its unit', 'a source of stats is fresh, stale or missing'],
      ['freshness', 'stats are as old as their worst source'],
    ],
    [
      'prepare: `validationWarnings` are shown',
      ['rules', 'too little liquidity blocks a market increase and warns of a resting one'],
      ['writes', 'a classic order is a transaction for the wallet, with its warnings'],
    ],
    [
      'relay: `taskId`, five statuses, reason and revert bytes',
      ['rules', 'a relay status of %s is inconclusive, not failed', 'a reverted operation keeps its reason'],
    ],
  ]),
  ...section('application: Endpoints', [
    ['response caches', caches, ['rules', 'earnings are shared per account, not between accounts']],
    [
      'both families are peers of equal rank; reads rotate',
      ['transport', 'application reads take turns at the peers'],
    ],
    [
      'a list parameter is repeated once per value',
      ['protocolRoutes', 'stats keep every figure by its path'],
      ['routes', 'tickers carry capacity'],
    ],
    [
      'stats: 308 to the Arbitrum host of the family is followed',
      [
        'errorsTable',
        '308: stats of a host that does not compute them',
        '308: a redirect to %s is not followed',
        '308: another path of the same origin is followed, once',
        '308: a redirect is followed once',
      ],
    ],
    [
      'pair feeds and the Solana feed have hosts of their own',
      ['protocolRoutes', 'the feeds are asked at hosts of their own'],
    ],
    [
      '1: an order chain stays on the host that served prepare',
      [
        'rules',
        'prepare may change host; then the order chain stays where it was prepared',
        'a resting host is no reason to leave an order chain',
      ],
      ['client', 'the peer of the host that prepared knows nothing of the order'],
    ],
    [
      '2: 5xx or 404 there never moves the request to the peer; withdrawals too',
      ['transport', 'a status is asked again at its own host and nowhere else'],
      ['writes', 'withdrawal submit and status obey the host pin'],
    ],
    [
      '3: /relay/* is bound to no host',
      ['rules', '/relay/* may be asked at any host'],
      ['accountVenue', 'calldata of our own is relayed, and any host tells how it fared'],
    ],
    [
      '4: nothing signed is sent twice; a 404 after a submit is transient',
      ['transport', 'a submit is one POST to its host under any answer'],
      [
        'nock',
        'no answer to a submit brings a second POST',
        'a submit that is not answered in time brings no second POST',
      ],
      ['rules', 'a 404 right after an accepted submission is transient'],
    ],
    ['5: a blocking 400 on prepare is not repeated', ['rules', 'a blocking 400 on prepare is not repeated']],
    [
      '6: INSUFFICIENT_LIQUIDITY blocks a market increase and warns of a resting one',
      ['rules', 'too little liquidity blocks a market increase'],
      ['client', 'an order beyond the capacity is refused with its code and numbers'],
    ],
    [
      '7: TRADING_CAPACITY_UNAVAILABLE has one of four reasons',
      ['rules', 'why the capacity could not be checked is one of four reasons'],
    ],
    ['8: prepare waits 500 ms for JIT at most', ['coverage', 'no wait is longer than the venue’s own limit']],
    ['9: INSUFFICIENT_COLLATERAL', refusals],
  ]),
  ...section('application: Errors', [
    ['400: every row of the table', refusals],
    [
      '404: a closed position; an order on another host',
      [
        'errorsTable',
        '404: the detail of a closed position',
        '404: the status of an %s on a host that did not prepare it',
      ],
    ],
    ['308: stats', ['errorsTable', '308: stats of a host that does not compute them']],
    [
      '503: every row of the table; BACKEND_UNAVAILABLE',
      unserved,
      ['errorsTable', '503: a route that is not served does not rest the host'],
    ],
    ['a schema failure’s `message` is an object keyed by parameter', refusals],
    [
      'every failing response keeps its X-Trace-Id',
      refusals,
      unserved,
      ['errorsTable', 'the trace id is kept from the header'],
    ],
    [
      'timeout, network error, 429 and 5xx: backoff and the peer',
      [
        'rules',
        'on a %s the application API is asked again with backoff, at the peer',
        'backoff is drawn evenly below a bound that doubles',
      ],
      ['transport', 'Retry-After rests the host'],
      ['hosts', 'a 503 that says how long is heeded', 'a hung host costs one timeout'],
    ],
    [
      'a 200 does not prove freshness',
      ['errorsTable', 'a 200 does not prove freshness'],
      ['freshness', 'market values have the age'],
    ],
  ]),
  ...section('application: Limits', [
    ['server timeout of 60 s', ['coverage', 'no wait is longer than the venue’s own limit of 60 seconds']],
    ['staleness: 15 s of market values, 900 s of stats', ['coverage', 'the documents’ staleness marks']],
    [
      'times of trades: whole seconds, 0 to 2147483647',
      refusals,
      ['accountRoutes', 'trades are asked by market, symbol, events and time'],
    ],
    [
      'no rate limit is published: five reads a second a host',
      ['coverage', 'reads keep to five a second at one host'],
      ['transport', 'reads keep to the rate of a host'],
    ],
  ]),
])
