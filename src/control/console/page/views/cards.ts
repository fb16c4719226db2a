/** Rows of a phone or tablet: cards of two lines, and rows that keep their place under a pointer. */
import type { ComponentChildren, RefObject, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../markup.ts'

const narrow = '(max-width: 1000px)'

/** Tells whether the screen is too narrow for the columns of a position: rows are cards there. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(matchMedia(narrow).matches)
  useEffect(() => {
    const query = matchMedia(narrow)
    const look = () => setNarrow(query.matches)
    look()
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isNarrow
}

/** A row's two lines, each with a text and what stands at its right. A tap opens the rest of it below. */
export function Card(props: {
  readonly first: readonly [ComponentChildren, ComponentChildren]
  readonly second: readonly [ComponentChildren, ComponentChildren]
  readonly children?: ComponentChildren
}): VNode {
  const { first, second, children } = props
  const [isOpen, setOpen] = useState(false)
  const lines = [first, second].map(
    ([text, end], at) =>
      html`<span key=${at} class="two"><span class="text">${text}</span><span class="num">${end}</span></span>`,
  )
  return html`<li class="card">
    <button type="button" class="face" aria-expanded=${isOpen}
      onClick=${() => setOpen(!isOpen)}>${lines}</button>
    ${isOpen ? children : ''}
  </li>`
}

/**
 * The rows, in the order of before while a pointer or the focus is among them: nobody presses the button of a row that has just moved. New rows come
 * last meanwhile.
 */
export function useSteadyRows<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
): readonly [readonly T[], RefObject<HTMLDivElement | null>] {
  const place = useRef<HTMLDivElement>(null)
  const order = useRef<ReadonlyMap<string, number>>(new Map())
  const isTouched = place.current?.matches(':hover, :focus-within') ?? false
  const shown = isTouched
    ? rows.toSorted(
        (one, other) =>
          (order.current.get(keyOf(one)) ?? rows.length) - (order.current.get(keyOf(other)) ?? rows.length),
      )
    : rows
  order.current = new Map(shown.map((row, at) => [keyOf(row), at]))
  return [shown, place]
}
