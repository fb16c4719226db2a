/** Limits with what is used of them, and breakers with what opens them. */
import type { VNode } from 'preact'
import { commandForms } from '../commandForms.ts'
import { formsAt } from '../formCommand.ts'
import { html, Meter, Section, useMayCommand, usePage, useSlice } from '../markup.ts'
import { limitsCommand } from '../pageCommands.ts'
import type { LimitLine, Status } from '../pageWire.ts'
import { percentText } from '../shownAmount.ts'
import { type LimitBar, limitBars, limitScope, limitText } from '../shownFigures.ts'
import { texts } from '../texts.ts'

const { limits: words } = texts
/** From this share on a limit is marked, bps. */
const nearBps = 8_000

function BarLine({ bar }: { readonly bar: LimitBar }): VNode {
  const { limit, allowed, used = '', shareBps = 0 } = bar
  const tone = shareBps > 10_000 ? 'down' : shareBps >= nearBps ? 'warn' : ''
  const mark =
    shareBps > 10_000 ? words.exceeded : shareBps === 10_000 ? words.full : tone === '' ? '' : words.near
  const readable = (value: string) => limitText({ limit, value })
  const text = words.usedOf(readable(used), readable(allowed))
  return html`<li class="limit">
    <span>
      ${limit} <small>${limitScope(bar)}</small>${mark === '' ? '' : html` <strong class=${`mark ${tone}`}>${mark}</strong>`}
    </span>
    <${Meter} bps=${shareBps} label=${`${percentText(shareBps)}: ${text}`} tone=${tone} />
    <span class="num">${text}</span>
  </li>`
}

/** The bars, and the other limits below. */
export function LimitsView(): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const limits = useSlice((state) => state.limits)
  const bars = limitBars(limits ?? [])
  const counted = bars
    .filter((bar) => bar.shareBps !== undefined)
    .toSorted((one, other) => (other.shareBps ?? 0) - (one.shareBps ?? 0))
  const rest = bars.filter(({ scope, shareBps }) => shareBps === undefined && scope !== 'breakers')
  const tools = mayCommand
    ? formsAt('limits').map(
        (name) =>
          html`<button key=${name} onClick=${() => command(limitsCommand(name, limits ?? []))}>${commandForms[name].button}</button>`,
      )
    : ''
  return html`<${Section} id="limits" title=${texts.sections.limits} tools=${tools}>
    ${limits === undefined ? html`<p class="muted">${words.none}</p>` : ''}
    <ul class="rows">${counted.map((bar) => html`<${BarLine} key=${bar.key} bar=${bar} />`)}</ul>
    ${
      rest.length === 0
        ? ''
        : html`<details>
            <summary>${words.rest(rest.length)}</summary>
            <ul class="rows">${rest.map(
              ({ key, scope, limit, allowed }) =>
                html`<li class="line" key=${key}><span class="grow">${limit} <small>${limitScope({ limit, scope })}</small></span><span class="num">${limitText({ limit, value: allowed })}</span></li>`,
            )}</ul>
          </details>`
    }
  <//>`
}

type BreakerName = Exclude<Status['halts'][number]['cause'], 'operator' | 'kill' | 'lost-records'>

/** Each breaker, and the limit that opens it as the daemon names it. */
const breakers: Readonly<Record<BreakerName, readonly string[]>> = {
  'daily-loss': ['maxDailyLossUsd'],
  drawdown: ['maxDrawdownBps'],
  rejects: ['rejectsInRow'],
  'payload-mismatch': ['payloadMismatchesPerDay'],
  unknowns: ['unknownAgeMs'],
  'stale-data': ['staleMs'],
  unexplained: ['openDiscrepancies'],
  subaccount: ['reserveActions', 'reserveSeconds'],
}

function limitOf(limits: readonly LimitLine[] | undefined, names: readonly string[]): string {
  const found = limits?.filter(
    ({ scope, limit }) => names.includes(limit) && (scope === 'breakers' || scope === 'account'),
  )
  return found === undefined || found.length === 0
    ? ''
    : texts.breakers.limit(found.map((line) => `${line.limit} ${limitText(line)}`).join(', '))
}

/** Which breakers are open. */
export function BreakersView(): VNode {
  const status = useSlice((state) => state.status)
  const limits = useSlice((state) => state.limits)
  return html`<${Section} id="breakers" title=${texts.sections.breakers}>
    <ul class="rows">
      ${(Object.keys(breakers) as BreakerName[]).map((name) => {
        const halt = status?.halts.find(({ cause }) => cause === name)
        return html`<li class="line" key=${name}>
          <span class="grow">${texts.causes[name]} <small>${limitOf(limits, breakers[name])}</small></span>
          ${
            halt === undefined
              ? html`<span class="muted">${texts.breakers.quiet}</span>`
              : html`<span>${halt.reason}</span><strong class="mark down">${texts.breakers.open}</strong>`
          }
        </li>`
      })}
    </ul>
  <//>`
}
