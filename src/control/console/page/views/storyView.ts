/** One order's story as `perpd explain` tells it: why, how big, each record of it on a line of time, and what proves how it ended. */
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Head, html, usePage, useSlice } from '../markup.ts'
import { NO_ANSWER, read } from '../pageApi.ts'
import type { Story } from '../pageWire.ts'
import { NOTHING, priceText, signedUsdText, usdText } from '../shownAmount.ts'
import { clockText, durationText, momentText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { toneOf } from './headlineView.ts'

const { story: words } = texts
type Part = NonNullable<Story['explained']>['before'][number]

/** A record: what it is, what it says in words, and folded behind it all of it. */
function Step({
  step,
  told,
}: {
  readonly step: Story['steps'][number]
  readonly told: readonly string[]
}): VNode {
  return html`<li>
    <time datetime=${step.at} title=${momentText(Date.parse(step.at))} class="num">${clockText(Date.parse(step.at))}</time>
    <span class="num muted">+${durationText(step.sinceAcceptedMs)}</span>
    <div>
      <strong>${texts.steps[step.record.kind]}</strong>
      ${told.map((text) => html`<p key=${text}>${text}</p>`)}
      <details>
        <summary>${words.number(step.seq)} <span class="mono">${step.kind}</span></summary>
        <pre tabindex="0">${JSON.stringify(step.record, undefined, 2)}</pre>
      </details>
    </div>
  </li>`
}

/** Parts of the story, each with its texts below each other. */
function Parts({ parts }: { readonly parts: readonly Part[] }): VNode | null {
  if (parts.length === 0) return null
  return html`<dl class="facts">
    ${parts.map(
      ({ title, texts: told }) => html`<div key=${title}>
        <dt>${words.parts[title] ?? title}</dt>
        <dd>${told.map((text) => html`<p key=${text}>${text}</p>`)}</dd>
      </div>`,
    )}
  </dl>`
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
  const { order, steps, explained } = story
  const told = new Map(explained?.steps.map(({ seq, texts: said }) => [seq, said]))
  return html`<div class="head">${explained?.head.map((text, at) => html`<p key=${text} class=${at === 0 ? '' : 'muted'}>${text}</p>`)}</div>
    <${Parts} parts=${explained?.before ?? []} />
    <h3>${words.timeline}</h3>
    <ol class="timeline">${steps.map((step) => html`<${Step} key=${step.seq} step=${step} told=${told.get(step.seq) ?? []} />`)}</ol>
    <${Legs} legs=${order.legs} />
    <${Parts} parts=${explained?.after ?? []} />`
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
