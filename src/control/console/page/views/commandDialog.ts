/** The dialog of a command: what will happen, what must be typed, what it would do now, and what became of it. */
import type { RefObject, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CommandField, FieldValues, PageCommand } from '../formCommand.ts'
import { html, useMayCommand, usePage, useSlice } from '../markup.ts'
import { type Answered, NO_ANSWER } from '../pageApi.ts'
import type { Answer } from '../pageWire.ts'
import { placesOf, priceText, signedUsdText, usdText } from '../shownAmount.ts'
import { useStream } from '../streamAge.ts'
import { texts } from '../texts.ts'

const { dialog: words } = texts
const nameKey = 'perpd.by'

/** The name that the operator gave last in this browser. */
export function lastName(): string {
  return localStorage.getItem(nameKey) ?? ''
}

/** Keeps the name for the next command. */
export function rememberName(by: string): void {
  localStorage.setItem(nameKey, by.trim())
}

/** Lines of a preview. */
function linesOf(answer: Answer): readonly string[] {
  const quote = answer.quote ?? answer.closing
  const price = (value: string) => priceText(value, quote && placesOf(quote.referencePrice))
  const waiting = answer.waiting?.map(
    ({ scope, limit, value, configured, isTighter }) =>
      `${scope} ${limit}: ${value} → ${configured} (${isTighter ? words.tighter : words.looser})`,
  )
  const strategies = answer.strategies?.map(
    ({ strategy, change, file }) => `${strategy}: ${change} (${file})`,
  )
  const isEmpty = waiting?.length === 0 && (strategies === undefined || strategies.length === 0)
  return [
    answer.statement,
    ...(quote === undefined
      ? []
      : [
          `${words.referencePrice} ${price(quote.referencePrice)}; ${words.boundPrice} ${quote.boundPrice === null ? words.noBound : price(quote.boundPrice)}`,
          `${words.expected} ${usdText(quote.expected.totalUsd)}; ${words.worst} ${quote.worstCostUsd === null ? words.noBound : usdText(quote.worstCostUsd)}`,
        ]),
    ...(answer.closing?.parts ?? []).map(({ strategy, sizeUsd, pnlUsd }) =>
      words.takes(strategy, usdText(sizeUsd), signedUsdText(pnlUsd)),
    ),
    ...(answer.closing?.netPnlUsd === undefined || answer.closing.netPnlUsd === null
      ? []
      : [`${words.netPnl} ${signedUsdText(answer.closing.netPnlUsd)}`]),
    ...(strategies ?? []),
    ...(waiting ?? []),
    ...(isEmpty ? [words.nothingDiffers] : []),
    ...killLinesOf(answer.killing),
  ]
}

/** Lists everything a kill would find, a line each; a row that no list shows has the reason why it is known. */
function killLinesOf(killing: Answer['killing']): readonly string[] {
  if (killing === undefined) return []
  const { positions, orders, unlisted, unread } = killing
  const size = (usd: string | null) => (usd === null ? '' : ` ${usdText(usd)}`)
  const at = (price: string | null) => (price === null ? '' : ` ${words.at} ${priceText(price)}`)
  const orderText = (
    order: Pick<(typeof unlisted)[number], 'name' | 'symbol' | 'direction' | 'sizeUsd' | 'triggerPrice'>,
  ) =>
    [
      order.name ?? '',
      order.symbol === null ? '' : `${order.direction} ${order.symbol}${size(order.sizeUsd)}`,
    ]
      .filter((part) => part !== '')
      .join(' ') + at(order.triggerPrice)
  const lines = [
    ...positions.map(({ symbol, direction, sizeUsd }) => `${direction} ${symbol}${size(sizeUsd)}`),
    ...orders.map((order) => `${orderText(order)}; ${order.stays ? words.stays : words.cancelled}`),
    ...unlisted.map(({ stays, why, ...row }) => {
      const ends = row.name === null ? words.closed : words.cancelled
      return `${orderText(row)}; ${stays ? words.stays : ends}; ${why}`
    }),
    ...unread.map(words.notShown),
  ]
  return lines.length === 0 ? [words.nothingHeld] : lines
}

/** Why nothing was done, in words; of what nothing answered to, not the browser's own. */
export function refusalText({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === NO_ANSWER ? words.noAnswer : message
}

/** Shows the response in words. */
function Outcome({
  answer,
  isPreview,
}: {
  readonly answer: Answered<Answer>
  readonly isPreview: boolean
}): VNode {
  if (!answer.ok) {
    return html`<div class="outcome down" tabindex="-1"><strong><span aria-hidden="true">✕</span> ${words.refused(answer.code)}</strong><p>${refusalText(answer)}</p></div>`
  }
  return html`<div class="outcome up" tabindex="-1">
    <strong><span aria-hidden="true">${isPreview ? '…' : '✓'}</span> ${isPreview ? words.would : words.carriedOut}</strong>
    ${linesOf(answer.value).map((line) => html`<p key=${line} class="num">${line}</p>`)}
  </div>`
}

function Field(props: {
  readonly field: CommandField
  readonly value: string
  readonly onValue: (value: string) => void
}): VNode {
  const { field, value, onValue } = props
  const onInput = (event: Event) =>
    onValue((event.currentTarget as HTMLInputElement | HTMLSelectElement).value)
  const problem = field.problem?.(value)
  const list = field.suggestions === undefined ? undefined : `${field.name}-list`
  const control =
    field.choices === undefined
      ? html`<input name=${field.name} value=${value} onInput=${onInput} required=${field.isOptional !== true}
          maxlength=${field.most} aria-invalid=${problem !== undefined} list=${list}
          inputmode=${field.isNumber === true ? 'decimal' : 'text'} autocomplete="off" />`
      : html`<select name=${field.name} value=${value} onChange=${onInput}>
          ${field.choices.map((choice) => html`<option key=${choice.value} value=${choice.value}>${choice.label}</option>`)}
        </select>`
  const suggestions =
    field.suggestions === undefined
      ? ''
      : html`<datalist id=${list}>${field.suggestions.map(
          (each) => html`<option key=${each.value} value=${each.value}>${each.label}</option>`,
        )}</datalist>`
  return html`<label>${field.label}${control}${suggestions}${field.hint === undefined ? '' : html`<small>${field.hint}</small>`}${
    problem === undefined ? '' : html`<small class="down">${problem}</small>`
  }</label>`
}

/** Reads what a command would find now, again for other values; the command does not wait for it. */
function useShown(
  { shown, path }: PageCommand,
  values: FieldValues,
  by: string,
  onSeen: (seen: Answered<Answer>) => void,
): void {
  const { feed } = usePage()
  useEffect(() => {
    if (shown === undefined) return undefined
    let isOld = false
    const body = { ...shown(values), by: by.trim() || words.byNobody }
    void feed.change<Answer>('POST', path, body).then((answer) => {
      if (!isOld && answer.ok) onSeen(answer)
    })
    return () => {
      isOld = true
    }
  }, [JSON.stringify(values)])
}

/** Puts the focus on each answer: the field or button that had it is disabled while the daemon is asked, and loses it. */
function useAnswerFocus(): readonly [form: RefObject<HTMLFormElement | null>, answered: () => void] {
  const form = useRef<HTMLFormElement>(null)
  const [answers, setAnswers] = useState(0)
  useEffect(() => {
    if (answers > 0) form.current?.querySelector<HTMLElement>('.outcome')?.focus()
  }, [answers])
  return [form, () => setAnswers((count) => count + 1)]
}

/** Facts of the moment, which follow what the daemon says while the dialog is open. */
function Facts({ command }: { readonly command: PageCommand }): VNode | null {
  const status = useSlice((state) => state.status)
  const facts = status && command.now?.(status)
  if (facts === undefined) return null
  return html`<dl class="facts">${facts.map(([name, value], at) => html`<div key=${at}><dt>${name}</dt><dd class="num">${value}</dd></div>`)}</dl>`
}

/** The form of one command. It is made anew for each, so that nothing that was typed for another stands in it. */
function CommandForm({
  command,
  onEnd,
}: {
  readonly command: PageCommand
  readonly onEnd: () => void
}): VNode {
  const { feed, show, announce } = usePage()
  const { title, effects, fields, path, preview, isDanger } = command
  const [values, setValues] = useState<FieldValues>(
    Object.fromEntries(fields.map(({ name, value }) => [name, value])),
  )
  const [by, setBy] = useState(lastName())
  const [said, setSaid] = useState('')
  const [isSending, setSending] = useState(false)
  const [seen, setSeen] = useState<Answered<Answer> | undefined>(undefined)
  const [done, setDone] = useState<Answered<Answer> | undefined>(undefined)
  const [form, answered] = useAnswerFocus()
  const typed = command.typed ?? (seen?.ok === true ? command.typedFor?.(seen.value) : undefined)
  const isSeen = preview === undefined || seen?.ok === true
  const isSaid = typed === undefined || said.trim().toLowerCase() === typed
  const isOver = done?.ok === true
  const stream = useStream()
  const isOld = stream.isOld && command.isStop !== true

  useShown(command, values, by, setSeen)

  async function ask(body: Readonly<Record<string, unknown>>): Promise<Answered<Answer>> {
    setSending(true)
    const answer = await feed.change<Answer>('POST', path, { ...body, by: by.trim() })
    setSending(false)
    announce(answer.ok ? answer.value.statement : `${words.refused(answer.code)} ${refusalText(answer)}`)
    return answer
  }

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    if (isOld) return
    if (fields.some(({ name, problem }) => problem?.(values[name] ?? '') !== undefined)) return
    rememberName(by)
    if (!isSeen && preview !== undefined) {
      setSeen(await ask(preview(values)))
      return answered()
    }
    if (!isSaid) return
    setDone(await ask(command.body(values)))
    answered()
    feed.refresh()
  }

  /** Changes a value. The preview shown was for the old values, so it is requested again. */
  function change(name: string, value: string): void {
    setValues({ ...values, [name]: value })
    setSeen(undefined)
  }

  const order = done?.ok === true ? done.value.intentId : undefined
  const buttonText = isSending ? words.sending : isSeen ? command.send : words.preview
  return html`<form ref=${form} class="form" onSubmit=${submit}>
    <h2 id="command-title">${title}</h2>
    <ul>${effects.map((effect) => html`<li key=${effect}>${effect}</li>`)}</ul>
    <${Facts} command=${command} />
    <fieldset disabled=${isOver || isSending}>
      ${fields.map(
        (field) =>
          html`<${Field} key=${field.name} field=${field} value=${values[field.name] ?? ''}
            onValue=${(value: string) => change(field.name, value)} />`,
      )}
      <label>${words.by}<input name="by" required maxlength="80" value=${by} autocomplete="name"
        onInput=${(event: Event) => setBy((event.currentTarget as HTMLInputElement).value)} /></label>
    </fieldset>
    ${seen === undefined || done !== undefined ? '' : html`<${Outcome} answer=${seen} isPreview=${true} />`}
    ${
      typed === undefined || !isSeen
        ? ''
        : html`<fieldset disabled=${isOver || isSending}>
            <label>${words.typeIt(typed)}<input name="typed" value=${said} autocomplete="off" autocapitalize="off" spellcheck=${false}
              onInput=${(event: Event) => setSaid((event.currentTarget as HTMLInputElement).value)} /></label>
          </fieldset>`
    }
    ${done === undefined ? '' : html`<${Outcome} answer=${done} isPreview=${false} />`}
    ${isOld && !isOver ? html`<p class="warn" role="alert">${words.old}</p>` : ''}
    <div class="tools form-tools">
      ${
        order === undefined
          ? ''
          : html`<button type="button" onClick=${() => {
              onEnd()
              show(order)
            }}>${words.order(order.slice(0, 8))}</button>`
      }
      <button type="button" onClick=${onEnd}>${isOver ? words.done : words.cancel}</button>
      ${
        isOver
          ? ''
          : html`<button class=${isDanger === true && isSeen ? 'danger' : 'primary'} disabled=${isOld || isSending || (isSeen && !isSaid)}>${buttonText}</button>`
      }
    </div>
  </form>`
}

/** The dialog; it is open while there is a command, and whoever began it may command. */
export function CommandDialog(props: {
  readonly command: PageCommand | undefined
  readonly onEnd: () => void
}): VNode {
  const { onEnd } = props
  const mayCommand = useMayCommand()
  const command = mayCommand ? props.command : undefined
  const dialog = useRef<HTMLDialogElement>(null)
  const begunIn = useRef<Element | null>(null)
  useEffect(() => {
    const isOpen = dialog.current?.open === true
    if (command !== undefined && !isOpen) {
      begunIn.current = document.activeElement?.closest('section') ?? null
      dialog.current?.showModal()
    } else if (command === undefined) {
      dialog.current?.close()
      // The button that opened it may be gone with its row: the browser then leaves the focus on nothing.
      const section = begunIn.current?.isConnected === true ? begunIn.current : document
      if (document.activeElement === document.body)
        section.querySelector<HTMLElement>('main h2, section > header h2')?.focus()
    }
  }, [command])
  // A command begun in a session that has ended is not offered to the next one.
  useEffect(() => {
    if (!mayCommand) onEnd()
  }, [mayCommand])
  return html`<dialog ref=${dialog} aria-labelledby="command-title" onClose=${onEnd}>
    ${command === undefined ? '' : html`<${CommandForm} key=${`${command.path} ${command.title}`} command=${command} onEnd=${onEnd} />`}
  </dialog>`
}
