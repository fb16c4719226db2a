/** The form of an order ticket: asks for a preview, and sends what the preview shows. Enter asks, Ctrl+Enter sends; nothing else does. */
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { typedPrice } from '../chart/levelMoves.ts'
import { html, useDaemonNow, usePage, useSlice } from '../markup.ts'
import { amountOf, percentText, priceText, shareText } from '../shownAmount.ts'
import { useStream } from '../streamAge.ts'
import { texts } from '../texts.ts'
import { refusalText } from '../views/commandDialog.ts'
import { useMarkets } from '../views/priceView.ts'
import { QuoteTable } from './quoteView.ts'
import { amountIn } from './sizeUnits.ts'
import {
  anewMs,
  entryTypes,
  isOldQuote,
  type Quote,
  sizeUnits,
  type TicketFields,
  typedSizeOf,
} from './ticket.ts'
import { Choices, TextField } from './ticketInputs.ts'
import { ticketTexts as words } from './ticketTexts.ts'
import { type FieldName, type Problems, problemsOf, refusedField, understoodOf } from './typedFields.ts'
import { type Said, useTicket } from './useTicket.ts'

/** Longest time that a preview is asked for anew by itself, ms: nobody looks at it any more. */
const mostAnewMs = 120_000
const refusedId = 'ticket-refused'

/** Properties of the parts that show or change fields. */
interface FieldsProps {
  readonly fields: TicketFields
  readonly market: string
  readonly markUsd: bigint | undefined
  /** Equity of the account, USD; undefined: it is not known. */
  readonly equityUsd: bigint | undefined
  /** Faults that are shown now. */
  readonly problems: Problems
  /** The field that the daemon's refusal is about. */
  readonly refused: FieldName | undefined
  readonly change: (fields: Partial<TicketFields>) => void
}

/** Fields of the order itself. */
function OrderFields({ fields, market, markUsd, equityUsd, problems, refused, change }: FieldsProps): VNode {
  const all = useMarkets()
  const toldOf = (name: FieldName) => ({
    name,
    problem: problems[name],
    refusedBy: refused === name ? refusedId : undefined,
  })
  const number = (name: 'price' | 'stopLoss' | 'takeProfit' | 'amount' | 'leverage', hint?: string) => ({
    ...toldOf(name),
    label: words[name],
    value: fields[name],
    hint,
    understood: understoodOf(name, fields, { markUsd, equityUsd }),
    onValue: (value: string) => change({ [name]: value }),
  })
  const takeMark = () => markUsd !== undefined && change({ price: priceText(markUsd).replace('$', '') })
  return html`
    <${TextField} ...${toldOf('market')} label=${words.market} value=${fields.market || market} isText=${true} list="ticket-markets"
      onValue=${(value: string) => change({ market: value === market ? '' : value })} />
    <datalist id="ticket-markets">${all.map((symbol) => html`<option key=${symbol} value=${symbol} />`)}</datalist>
    <${Choices} legend=${words.side} name="direction" value=${fields.direction} choices=${Object.entries(words.sides)}
      problem=${problems.direction} onValue=${(direction: 'long' | 'short') => change({ direction })} />
    <${Choices} legend=${words.type} name="type" value=${fields.type} choices=${entryTypes.map((each) => [each, words.types[each]])}
      onValue=${(type: TicketFields['type']) => change({ type })} />
    ${
      fields.type === 'market'
        ? ''
        : html`<${TextField} ...${number('price')}>${
            markUsd === undefined
              ? ''
              : html`<button type="button" aria-label=${words.markHint(priceText(markUsd))} onClick=${takeMark}>${words.mark}</button>`
          }<//>`
    }
    <${TextField} ...${number('stopLoss', words.stopHint)} />
    <${TextField} ...${number('takeProfit', words.targetHint)} />
    <${Choices} legend=${words.sizeBy} name="unit" value=${fields.unit} choices=${sizeUnits.map((each) => [each, words.units[each]])}
      onValue=${(unit: TicketFields['unit']) => change({ unit, amount: amountIn(unit, fields, { markUsd, equityUsd }) })} />
    <${TextField} ...${number('amount')} />
    <${TextField} ...${number('leverage')} />
    <div class="field"><label for="ticket-collateral">${words.collateral}</label><select id="ticket-collateral" name="collateral" value=${fields.collateral}
      onChange=${(event: Event) => change({ collateral: (event.currentTarget as HTMLSelectElement).value as 'short' | 'long' })}>
      ${Object.entries(words.pools).map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}</select></div>`
}

/** The refusal or the order that was accepted, and the pools to choose from. */
function Outcome({ said, change }: { readonly said: Said; readonly change: FieldsProps['change'] }): VNode {
  const { show } = usePage()
  const { refused, done, pools = [] } = said
  return html`${
    refused === undefined
      ? ''
      : html`<div id=${refusedId} class="outcome down" tabindex="-1"><strong><span aria-hidden="true">✕</span> ${texts.dialog.refused(refused.code)}</strong><p>${refusalText(refused)}</p></div>`
  }
  ${
    pools.length === 0
      ? ''
      : html`<${Choices} legend=${words.choosePool} name="pool" value="" choices=${pools.map(({ symbol, free, cost }) => [symbol, words.pool(symbol, free, cost)])}
          onValue=${(symbol: string) => change({ market: symbol })} />`
  }
  ${
    done === undefined
      ? ''
      : html`<div class="outcome up" tabindex="-1"><strong><span aria-hidden="true">✓</span> ${words.accepted}</strong><p>${done.statement}</p>
          ${done.intentId === undefined ? '' : html`<button type="button" onClick=${() => show(done.intentId)}>${words.story}</button>`}</div>`
  }`
}

/** Asks for a quote that is shown anew, as long as somebody looks at it. Gives what begins that time again. */
function useAnew(quote: Quote | undefined, isBusy: boolean, ask: () => void): () => void {
  const sinceMs = useRef(0)
  useEffect(() => {
    if (quote === undefined || isBusy) return undefined
    if (sinceMs.current === 0) sinceMs.current = Date.now()
    if (document.hidden || Date.now() - sinceMs.current > mostAnewMs) return undefined
    const timer = setTimeout(ask, anewMs)
    return () => clearTimeout(timer)
  }, [quote, isBusy])
  return () => {
    sinceMs.current = 0
  }
}

/**
 * Puts the focus on the first field at fault after a try or an answer, else on the heading of the preview, else on what became of the order: field and
 * button lose it while the daemon is asked. The preview comes into sight. What is asked for anew by itself moves nothing.
 */
function useFocus(form: { readonly current: HTMLFormElement | null }, answers: number, tries: number): void {
  const go = (): void => {
    const find = (selector: string) => form.current?.querySelector<HTMLElement>(selector)
    find('.quote')?.scrollIntoView({ block: 'nearest' })
    const wrong = find('[aria-invalid=true], fieldset[aria-describedby] input')
    ;(wrong ?? find('#quote-title') ?? find('.outcome'))?.focus()
  }
  useEffect(() => {
    if (answers > 0) go()
  }, [answers])
  useEffect(() => {
    if (tries > 0) go()
  }, [tries])
}

/** The form. `market`: that of the chart. */
export function TicketForm({ market }: { readonly market: string }): VNode {
  const { ticket, said, answers, busy, by, setBy, change, show, send } = useTicket(market)
  const { fields } = ticket
  const { quote, before, refused } = said
  const nowMs = useDaemonNow(500)
  const { isOld } = useStream()
  const markets = useSlice((state) => state.markets)
  const equity = useSlice((state) => state.status?.equity?.equityUsd)
  const typedSizeBps = useSlice(({ session }) => (typeof session === 'string' ? 0 : session.typedSizeBps))
  const [farAgreed, setFarAgreed] = useState<number | undefined>(undefined)
  const [tries, setTries] = useState(0)
  const [typedSize, setTypedSize] = useState('')
  const form = useRef<HTMLFormElement>(null)
  const markPrice =
    markets.find(({ symbol }) => symbol === (fields.market.trim() || market))?.markPrice ?? undefined
  const markUsd = markPrice === undefined ? undefined : amountOf(markPrice)
  const equityUsd = equity === undefined ? undefined : amountOf(equity)
  const faults = problemsOf({ fields, market, by }, markUsd)
  const isStale = quote !== undefined && isOldQuote(quote, nowMs)
  const far = quote?.farBps ?? null
  // A percent further away is another question.
  const isAgreed = far === null || (farAgreed !== undefined && Math.floor(far / 100) <= farAgreed)
  const wanted = quote === undefined ? undefined : typedSizeOf(quote, equityUsd, typedSizeBps)
  const isTyped = wanted === undefined || typedPrice(typedSize) === BigInt(wanted) * 10n ** 30n
  const isFit = !isStale && !isOld && isAgreed && isTyped
  const maySend = quote !== undefined && isFit && busy === undefined && by.trim() !== ''
  const lookAgain = useAnew(
    quote,
    busy !== undefined,
    () => void show({ before, why: refused, isQuiet: true }),
  )
  useFocus(form, answers, tries)

  const changeTo = (next: Partial<TicketFields>) => {
    setFarAgreed(undefined)
    setTypedSize('')
    setTries(0)
    change(next)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (busy !== undefined) return
    lookAgain()
    if (Object.keys(faults).length > 0) setTries(tries + 1)
    else void show({})
  }
  const sendShown = () => {
    if (maySend && quote !== undefined) void send(quote)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (!event.repeat) sendShown()
  }
  const isOnItsWay = busy === 'send' || busy === 'ask'
  const sendText = busy === 'send' ? words.sending : busy === 'ask' ? words.asking : words.send
  return html`<form ref=${form} class="form ticket" aria-label=${words.title} novalidate onSubmit=${submit} onKeyDown=${keys}>
    <fieldset disabled=${isOnItsWay}>
      <${OrderFields} fields=${fields} market=${market} markUsd=${markUsd} equityUsd=${equityUsd} change=${changeTo}
        problems=${tries > 0 ? faults : typedFaults(faults, fields)} refused=${refused && refusedField(refused.code)} />
      <${TextField} name="by" label=${words.by} value=${by} isText=${true} autocomplete="name"
        problem=${tries > 0 ? faults.by : undefined} onValue=${setBy} />
    </fieldset>
    <${Outcome} said=${said} change=${changeTo} />
    ${quote === undefined ? '' : html`<${QuoteTable} quote=${quote} before=${before} />`}
    ${
      far === null || quote === undefined
        ? ''
        : html`<label class="tick"><input type="checkbox" name="far" checked=${isAgreed}
            onChange=${(event: Event) => setFarAgreed((event.currentTarget as HTMLInputElement).checked ? Math.floor(far / 100) : undefined)} />
            <span>${words.far(percentText(far), priceText(quote.referencePrice))}</span></label>`
    }
    ${
      wanted === undefined
        ? ''
        : html`<${TextField} name="typed" label=${words.typeSize(wanted, shareText(quote?.sizeUsd ?? 0n, equityUsd ?? 0n))} value=${typedSize} onValue=${setTypedSize} />`
    }
    ${isStale ? html`<p class="warn">${words.old}</p>` : ''}
    <div class="tools form-tools">
      <button class=${quote === undefined ? 'primary' : ''} disabled=${busy !== undefined}>${busy === 'show' ? words.showing : words.show}</button>
      ${
        quote === undefined && !isOnItsWay
          ? ''
          : html`<button type="button" class="primary" name="send" title=${words.sendHint} disabled=${!maySend} onClick=${sendShown}>${sendText}</button>`
      }
    </div>
  </form>`
}

/** Faults of fields that something stands in: an empty one is at fault only once it is asked for. */
function typedFaults(faults: Problems, fields: TicketFields): Problems {
  const isTyped = (name: string) => name in fields && fields[name as keyof TicketFields].trim() !== ''
  return Object.fromEntries(Object.entries(faults).filter(([name]) => isTyped(name)))
}
