/** Fields of the ticket: each with its label, what was understood, and its fault tied to it. */
import type { ComponentChildren, VNode } from 'preact'
import { html } from '../markup.ts'
import type { FieldName } from './typedFields.ts'

/** Ids of what is said of a field. */
const idOf = (name: string, part: 'hint' | 'said') => `ticket-${name}-${part}`

/** A group of choices, of which one may hold. */
export function Choices<Value extends string>(props: {
  readonly legend: string
  readonly name: string
  readonly value: string
  readonly choices: readonly (readonly [Value, string])[]
  readonly problem?: string | undefined
  readonly onValue: (value: Value) => void
}): VNode {
  const { legend, name, value, choices, problem, onValue } = props
  const said = problem === undefined ? undefined : idOf(name, 'said')
  return html`<fieldset class="choices" aria-describedby=${said}><legend>${legend}</legend>${choices.map(
    ([
      each,
      label,
    ]) => html`<label key=${each}><input type="radio" name=${name} value=${each} checked=${value === each}
      aria-describedby=${said} onChange=${() => onValue(each)} /> <span>${label}</span></label>`,
  )}${problem === undefined ? '' : html`<small id=${said} class="down">${problem}</small>`}</fieldset>`
}

/** A field of text: never a number field, which a wheel changes. `refusedBy`: the element with the daemon's words against it. */
export function TextField(props: {
  readonly name: FieldName
  readonly label: string
  readonly value: string
  readonly hint?: string
  readonly understood?: string
  readonly problem?: string | undefined
  readonly refusedBy?: string | undefined
  readonly isText?: true
  readonly list?: string
  readonly autocomplete?: string
  readonly onValue: (value: string) => void
  readonly children?: ComponentChildren
}): VNode {
  const {
    name,
    label,
    value,
    hint,
    understood = '',
    problem,
    refusedBy,
    isText,
    list,
    autocomplete = 'off',
    onValue,
    children,
  } = props
  const [hintId, said] = [idOf(name, 'hint'), idOf(name, 'said')]
  const ids = [...(hint === undefined ? [] : [hintId]), said, ...(refusedBy === undefined ? [] : [refusedBy])]
  const isWrong = problem !== undefined || refusedBy !== undefined
  return html`<div class="field">
    <label for=${`ticket-${name}`}>${label}</label>
    <span class="typed"><input id=${`ticket-${name}`} name=${name} type="text" inputmode=${isText === true ? 'text' : 'decimal'} autocomplete=${autocomplete}
      maxlength=${isText === true ? 120 : 60} list=${list} value=${value} aria-invalid=${isWrong} aria-describedby=${ids.join(' ')}
      onInput=${(event: Event) => onValue((event.currentTarget as HTMLInputElement).value)} />${children}</span>
    ${hint === undefined ? '' : html`<small id=${hintId}>${hint}</small>`}
    <small id=${said} class=${problem === undefined ? 'num' : 'down'}>${problem ?? understood}</small>
  </div>`
}
