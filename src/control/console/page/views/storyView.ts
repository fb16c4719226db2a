/** One order's story: why, how big, what was sent, and each record of it on a line of time. */
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Head, html, usePage, useSlice } from '../markup.ts'
import { NO_ANSWER, read } from '../pageApi.ts'
import type { Story } from '../pageWire.ts'
import { NOTHING, priceText, signedUsdText, usdText } from '../shownAmount.ts'
import { clockText, durationText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { toneOf } from './headlineView.ts'

const { story: words } = texts

/** The chain may take back what only its latest block shows; it is written again when it is final. */
function finalityOf(level: string): string {
  if (level === 'chain-latest') return words.provisional
  return level === 'chain-final' ? words.final : ''
}

/** Words of a record beside its kind: what its facts say first. */
function factsOf({ record }: Story['steps'][number]): string {
  switch (record.kind) {
    case 'attempt.preparing':
      return record.host
    case 'send.result':
      return [record.send.result, 'status' in record.send ? record.send.status : undefined]
        .filter((text) => text !== undefined)
        .join(', ')
    case 'landed':
      return finalityOf(record.evidence.level)
    case 'child.executed':
    case 'child.cancelled': {
      const { settlement, cancelReason } = record
      const price = settlement?.executionPrice
      return [
        price === undefined ? '' : priceText(price),
        cancelReason ?? '',
        finalityOf(record.evidence.level),
      ]
        .filter((text) => text !== '')
        .join(', ')
    }
    case 'attempt.dead':
    case 'attempt.void':
      return record.observedStatus ?? ''
    case 'intent.closed':
      return [record.closing.outcome, record.closing.reason].filter((text) => text !== undefined).join(': ')
    default:
      return ''
  }
}

function Step({ step }: { readonly step: Story['steps'][number] }): VNode {
  const facts = factsOf(step)
  return html`<li>
    <time datetime=${step.at} class="num">${clockText(Date.parse(step.at))}</time>
    <span class="num muted">+${durationText(step.sinceAcceptedMs)}</span>
    <div>
      <strong>${texts.steps[step.record.kind]}</strong>${facts === '' ? '' : html` <span>${facts}</span>`}
      <details>
        <summary>${words.number(step.seq)} <span class="mono">${step.kind}</span></summary>
        <pre tabindex="0">${JSON.stringify(step.record, undefined, 2)}</pre>
      </details>
    </div>
  </li>`
}

function Legs({ legs }: { readonly legs: Story['order']['legs'] }): VNode | null {
  if (legs.length === 0) return null
  return html`<h3>${words.legs}</h3>
    <div class="scroll"><table>
      <${Head}
        titles=${[words.leg, words.size, words.trigger, words.fill, words.fees, words.pnl]}
        figures=${[words.size, words.trigger, words.fill, words.fees, words.pnl]}
      />
      <tbody>
        ${legs.map(
          (leg) => html`<tr key=${leg.orderKey}>
            <th scope="row" data-label=${words.leg}>${leg.role} ${leg.status}${leg.isProvisional ? html` <small>${words.provisional}</small>` : ''}</th>
            <td class="num" data-label=${words.size}>${leg.sizeDeltaUsd === null ? NOTHING : usdText(leg.sizeDeltaUsd)}</td>
            <td class="num" data-label=${words.trigger}>${leg.triggerPrice === null ? NOTHING : priceText(leg.triggerPrice)}</td>
            <td class="num" data-label=${words.fill}>${leg.executionPrice === null ? NOTHING : priceText(leg.executionPrice)}</td>
            <td class="num" data-label=${words.fees}>${leg.feesUsd === null ? NOTHING : usdText(leg.feesUsd)}</td>
            <td class=${`num ${leg.pnlUsd === null ? '' : toneOf(BigInt(leg.pnlUsd))}`} data-label=${words.pnl}>
              ${leg.pnlUsd === null ? NOTHING : signedUsdText(leg.pnlUsd)}
            </td>
          </tr>`,
        )}
      </tbody>
    </table></div>`
}

function Told({ story }: { readonly story: Story }): VNode {
  const { order, intent, steps } = story
  const { sizing } = intent
  const rows: readonly (readonly [string, string])[] = [
    [texts.orders.status, `${order.standing}: ${texts.labels[order.status]}`],
    [texts.orders.strategy, order.strategy],
    [texts.orders.market, `${order.kind} ${order.direction} ${order.market}`],
    [
      words.size,
      [
        usdText(order.sizeDeltaUsd),
        ...(sizing === undefined || sizing.wantedUsd === order.sizeDeltaUsd
          ? []
          : [words.wanted(usdText(sizing.wantedUsd))]),
        ...(sizing?.cuts.map(({ by, toUsd }) => words.cut(by, usdText(toUsd))) ?? []),
      ].join(', '),
    ],
    [words.reason, order.decisionReason],
    ...(order.host === null ? [] : [[words.host, order.host] as const]),
    ...(order.reason === null ? [] : [[words.outcome, `${order.outcome ?? ''}: ${order.reason}`] as const]),
    ...order.warnings.map((warning) => [texts.steps['attempt.warned'], warning] as const),
  ]
  return html`<dl class="facts">
      ${rows.map(([name, value]) => html`<div key=${`${name} ${value}`}><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
    <${Legs} legs=${order.legs} />
    <h3>${words.timeline}</h3>
    <ol class="timeline">${steps.map((step) => html`<${Step} key=${step.seq} step=${step} />`)}</ol>`
}

/** The story that is open, read anew whenever its order changes. */
export function StoryView(): VNode {
  const { store, show } = usePage()
  const shown = useSlice((state) => state.shown)
  const intentId = shown?.intentId
  const row = useSlice(({ orders, shown: open }) => orders.find((order) => order.intentId === open?.intentId))
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (intentId === undefined) dialog.current?.close()
    else if (dialog.current?.open === false) dialog.current.showModal()
  }, [intentId])
  useEffect(() => {
    if (intentId === undefined) return
    read<Story>(`/api/orders/${encodeURIComponent(intentId)}`).then(
      (answer) => {
        if (answer.ok) store.take({ type: 'story', intentId, story: answer.value })
        else {
          const problem = answer.code === NO_ANSWER ? texts.noAnswer : `${answer.code}: ${answer.message}`
          store.take({ type: 'no-story', intentId, problem })
        }
      },
      () => undefined,
    )
  }, [intentId, row])
  const title = intentId === undefined ? '' : words.title(intentId.slice(0, 8))
  return html`<dialog ref=${dialog} class="panel" aria-labelledby="story-title" onClose=${() => show()}>
    <header class="bar">
      <h2 id="story-title">${title}</h2>
      <button onClick=${() => show()}>${texts.close}</button>
    </header>
    ${shown?.problem === undefined ? '' : html`<p class="problem" role="alert">${shown.problem}</p>`}
    ${
      shown?.story === undefined
        ? html`<p class="muted">${shown?.problem === undefined ? words.loading : ''}</p>`
        : html`<${Told} story=${shown.story} />`
    }
  </dialog>`
}
