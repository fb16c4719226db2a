/** Shows the capacity that each market's pool leaves for increases, and the sources of the daemon's data. */
import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Head, html, Section, useBounded, useDaemonNow, useSlice } from '../markup.ts'
import type { Host, Market, Status } from '../pageWire.ts'
import { NOTHING, priceText, rateText, wholeUsdText } from '../shownAmount.ts'
import { shownMarkets } from '../shownFigures.ts'
import { clockText, spanText, zonedText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const { markets: words, hosts } = texts
const firstRows = 12
const figures: readonly string[] = [words.price, words.long, words.short, words.funding, words.borrowing]

/** Hours of a year of 365 days. */
const YEAR_HOURS = 8_760n

/** Rates of both sides, each an hour and a year: negative, that side pays. `isCost`: what is positive is paid. */
function Rates({
  rates,
  isCost,
}: {
  readonly rates: readonly (string | null)[]
  readonly isCost: boolean
}): VNode {
  const shown = (hours: bigint) =>
    rates
      .map((rate) => (rate === null ? NOTHING : rateText(BigInt(rate) * hours * (isCost ? -1n : 1n))))
      .join(' / ')
  return html`<span>${shown(1n)}<small>${words.aYear(shown(YEAR_HOURS))}</small></span>`
}

/** Describes the share of a capacity that is just-in-time liquidity; where its data is missing, the text says that none is counted. */
function jitText({ usd, dataStatus }: NonNullable<Market['jitLong']>): string {
  return dataStatus === 'available' ? words.jit(wholeUsdText(usd)) : words.noJit(dataStatus)
}

function MarketLine({ market }: { readonly market: Market }): VNode {
  const { symbol, status, markPrice, capacityLongUsd, capacityShortUsd, jitLong, jitShort } = market
  const { fundingLong, fundingShort, borrowingLong, borrowingShort } = market
  const capacity = (usd: string | null) => (usd === null ? words.notFresh : wholeUsdText(usd))
  const jit = (share: Market['jitLong']) => (share === null ? '' : html`<small>${jitText(share)}</small>`)
  return html`<tr>
    <th scope="row" data-label=${words.market}>${symbol}</th>
    <td data-label=${words.status}>${status === 'open' ? status : html`<strong class="mark warn">${status}</strong>`}</td>
    <td class="num" data-label=${words.price}>${markPrice === null ? NOTHING : priceText(markPrice)}</td>
    <td class="num" data-label=${words.long}>${capacity(capacityLongUsd)}${jit(jitLong)}</td>
    <td class="num" data-label=${words.short}>${capacity(capacityShortUsd)}${jit(jitShort)}</td>
    <td class="num" data-label=${words.funding}><${Rates} rates=${[fundingLong, fundingShort]} isCost=${false} /></td>
    <td class="num" data-label=${words.borrowing}><${Rates} rates=${[borrowingLong, borrowingShort]} isCost=${true} /></td>
  </tr>`
}

/** Capacity of the markets in use; of all when it is asked for. */
export function MarketsView(): VNode {
  const markets = useSlice((state) => state.markets)
  const status = useSlice((state) => state.status)
  const find = useSlice((state) => state.find)
  const [isAll, setAll] = useState(false)
  const found = useMemo(
    () => shownMarkets({ markets, find, ...(status === undefined ? {} : { status }) }, isAll),
    [markets, find, isAll, status?.positions.length, status?.strategies],
  )
  const [shown, more, showMore] = useBounded(found, firstRows)
  const titles = [
    words.market,
    words.status,
    words.price,
    words.long,
    words.short,
    words.funding,
    words.borrowing,
  ]
  const tools = html`<label class="check">
    <input type="checkbox" checked=${isAll} onChange=${(event: Event) => setAll((event.currentTarget as HTMLInputElement).checked)} />
    ${words.all}
  </label>`
  return html`<${Section} id="markets" title=${texts.sections.markets} count=${texts.shownOf(shown.length, markets.length)} tools=${tools}>
    ${
      shown.length === 0
        ? html`<p class="muted">${find === '' ? words.none : texts.nothingFound}</p>`
        : html`<div class="scroll"><table>
            <${Head} titles=${titles} figures=${figures} />
            <tbody>${shown.map((market) => html`<${MarketLine} key=${market.marketToken} market=${market} />`)}</tbody>
          </table></div>`
    }
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}
  <//>`
}

/** Holder, epoch and standbys of the database that keeps the journal. */
function holderText({
  holder,
  sinceMs,
  epoch,
  replication,
}: NonNullable<Status['journal']['server']>): string {
  const since = sinceMs === undefined ? NOTHING : `${zonedText(sinceMs)}`
  return `${hosts.held(holder, since, epoch)}; ${replication === undefined ? hosts.standbysUnknown : hosts.standbys(replication)}`
}

/** Facts of where data comes from, a name and a text each. */
function factsOf(status: Status, nowMs: number): readonly (readonly [string, string])[] {
  const {
    apiHosts,
    oracleHosts,
    feedAgesMs,
    watchedAgoMs,
    journal,
    evidence,
    account,
    startedAtMs,
    subaccount,
  } = status
  const toldAgoMs = Math.max(0, nowMs - status.nowMs)
  return [
    [hosts.api, apiHosts.join(', ')],
    [hosts.oracle, oracleHosts.join(', ')],
    [
      hosts.ages,
      Object.entries(feedAgesMs)
        .map(([feed, ageMs]) => `${feed} ${spanText(ageMs + toldAgoMs)}`)
        .join(', '),
    ],
    [hosts.watched, watchedAgoMs === undefined ? NOTHING : texts.ago(spanText(watchedAgoMs + toldAgoMs))],
    [hosts.evidence, evidence],
    [hosts.journal, `${hosts.journalText(journal.records, journal.intents)}, ${journal.path}`],
    ...(journal.server === undefined ? [] : [[hosts.holder, holderText(journal.server)] as const]),
    [hosts.account, account],
    ...(subaccount === undefined
      ? []
      : [
          [
            hosts.key,
            `${hosts.actions(subaccount.remainingActions, subaccount.neededActions)}, ${hosts.expires(zonedText(subaccount.expiresAtSeconds * 1_000))}`,
          ] as const,
        ]),
    [hosts.started, zonedText(startedAtMs)],
  ]
}

/** Shows the response times and failures of one host or endpoint. */
function HostLine({ host, nowMs }: { readonly host: Host; readonly nowMs: number }): VNode {
  const { kind, name, medianMs, slowestMs, asked, failed, lastFailure, rests, isStale, lagBlocks } = host
  const skew =
    host.clockSkewMs !== undefined
      ? hosts.clock(`${host.clockSkewMs} ms`)
      : host.aheadSeconds === undefined
        ? ''
        : hosts.clock(`${host.aheadSeconds.toFixed(1)} s`)
  const lag = lagBlocks === undefined ? '' : hosts.lag(lagBlocks)
  return html`<li class="host">
    <div class="line">
      <strong class="grow text">${kind === 'endpoint' ? `${hosts.endpoint} ` : ''}${name}</strong>
      ${rests === undefined ? '' : html`<strong class="mark down">${hosts.rests(spanText(rests.untilMs - nowMs))}</strong>`}
      ${isStale === true ? html`<strong class="mark warn">${hosts.stale}</strong>` : ''}
      <span class="num">${hosts.took(medianMs, slowestMs)}</span>
    </div>
    <small>${[hosts.failed(failed, asked), skew, lag, rests?.reason ?? ''].filter((text) => text !== '').join(', ')}${
      lastFailure === undefined
        ? ''
        : `; ${hosts.lastFailure(lastFailure.outcome, spanText(nowMs - lastFailure.atMs))}`
    }</small>
  </li>`
}

/** Hosts, the age of what they said, and the newest warnings of the log that speak of one. */
export function HostsView(): VNode {
  const status = useSlice((state) => state.status)
  const answers = useSlice((state) => state.hosts)
  const lines = useSlice((state) => state.log.lines)
  const nowMs = useDaemonNow()
  const warnings = useMemo(
    () =>
      lines
        .filter(({ level, event }) => level !== 'info' && /^(host|http|api|oracle|rpc|endpoint)/.test(event))
        .slice(-3),
    [lines],
  )
  if (status === undefined) return html`<${Section} id="hosts" title=${texts.sections.hosts} />`
  return html`<${Section} id="hosts" title=${texts.sections.hosts}>
    <dl class="facts">
      ${factsOf(status, nowMs).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd class="num">${value}</dd></div>`)}
      <div>
        <dt>${hosts.warnings}</dt>
        <dd>${
          warnings.length === 0
            ? hosts.noWarnings
            : warnings.map(
                (line) =>
                  html`<div key=${line.seq}><time class="num">${clockText(line.atMs)}</time> ${line.text}</div>`,
              )
        }</dd>
      </div>
    </dl>
    <ul class="rows">${answers.map((host) => html`<${HostLine} key=${`${host.kind} ${host.name}`} host=${host} nowMs=${nowMs} />`)}</ul>
  <//>`
}
