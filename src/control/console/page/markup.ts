/** Tools of every part of the page: markup, the state that it draws, and the requests that it may make. */
import htm from 'htm'
import { Component, type ComponentChildren, createContext, h, type VNode } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { LiveFeed } from './feed/liveFeed.ts'
import type { PageCommand } from './formCommand.ts'
import type { PageState } from './store/pageState.ts'
import type { PageStore } from './store/pageStore.ts'

/** Markup as a tagged text. A `style` in it is an object, which the page's policy allows. */
export const html = htm.bind(h as never) as unknown as (
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
) => VNode

/** The page as its parts use it: the state, and requests to the daemon. */
export interface Page {
  readonly store: PageStore
  readonly feed: LiveFeed
  /** Opens the dialog of a command. */
  readonly command: (command: PageCommand) => void
  /** Opens the story of an order; none: closes it. */
  readonly show: (intentId?: string) => void
  /** Has it read to whoever does not see the page. */
  readonly announce: (text: string) => void
}

/** Hands the page to its parts. */
export const PageContext = createContext<Page | undefined>(undefined)

/** The page that a part is in. */
export function usePage(): Page {
  const page = useContext(PageContext)
  if (page === undefined) throw new Error('This is drawn outside of the page.')
  return page
}

/** A piece of the state. Its part is drawn again only when this piece is another value. */
export function useSlice<T>(select: (state: PageState) => T): T {
  const { store } = usePage()
  const [, redraw] = useState({})
  const value = select(store.get())
  const drawn = useRef({ value, select })
  drawn.current = { value, select }
  useLayoutEffect(() => {
    const look = () => {
      if (!Object.is(drawn.current.select(store.get()), drawn.current.value)) redraw({})
    }
    look()
    return store.subscribe(look)
  }, [store])
  return value
}

/** Tells whether the person logged in may give commands. */
export function useMayCommand(): boolean {
  return useSlice(({ session }) => typeof session !== 'string' && session.role === 'operate')
}

/** The daemon's clock, Unix ms, so often anew: for ages. */
export function useDaemonNow(everyMs = 1_000): number {
  const aheadMs = useSlice((state) => state.aheadMs)
  const [nowMs, setNowMs] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs + aheadMs
}

/** Tells whether two properties are the same value; lists are the same when all their entries are. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return Object.is(one, other)
  return one.length === other.length && one.every((each, at) => Object.is(each, other[at]))
}

/** A part that is drawn again only when one of its properties is another value: rows of long lists, and groups of such rows. */
export function kept<P extends object>(draw: (props: P) => VNode): new () => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const before = this.props as Readonly<Record<string, unknown>>
      return Object.entries(next).some(([name, value]) => !isSame(before[name], value))
    }
    override render(): VNode {
      return draw(this.props as unknown as P)
    }
  }
}

/** A section of the page with its heading, which keys lead to. */
export function Section(props: {
  readonly id: string
  readonly title: string
  readonly count?: string
  readonly tools?: ComponentChildren
  readonly children?: ComponentChildren
}): VNode {
  const { id, title, count, tools, children } = props
  return html`<section id=${id} aria-labelledby=${`${id}-title`}>
    <header class="bar">
      <h2 id=${`${id}-title`} tabindex="-1">${title}${count === undefined ? '' : html` <span class="count">${count}</span>`}</h2>
      ${tools === undefined ? '' : html`<div class="tools">${tools}</div>`}
    </header>
    ${children}
  </section>`
}

/** The head of a table: a column each; those of figures stand to the right, as their figures do. */
export function Head(props: {
  readonly titles: readonly string[]
  readonly figures: readonly string[]
  /** Columns that a narrower desk leaves out. */
  readonly far?: readonly string[]
}): VNode {
  const { titles, figures, far = [] } = props
  return html`<thead>
    <tr>
      ${titles.map((title) =>
        // A column of buttons has no name, and an empty heading would be read as one.
        title === ''
          ? html`<td key=""></td>`
          : html`<th scope="col" key=${title} class=${`${figures.includes(title) ? 'num' : ''} ${far.includes(title) ? 'far' : ''}`}>${title}</th>`,
      )}
    </tr>
  </thead>`
}

/** The first rows of a list, and a button for more of them. */
export function useBounded<T>(
  rows: readonly T[],
  first: number,
): readonly [shown: readonly T[], more: number, showMore: () => void] {
  const [most, setMost] = useState(first)
  return [rows.slice(0, most), Math.max(0, Math.min(first, rows.length - most)), () => setMost(most + first)]
}

/** A bar that is filled to so many basis points, with its words beside it; colour is never its only sign. */
export function Meter(props: {
  readonly bps: number
  readonly label: string
  readonly tone?: string
}): VNode {
  const { bps, label, tone = '' } = props
  const width = `${Math.max(0, Math.min(10_000, bps)) / 100}%`
  return html`<span class=${`meter ${tone}`} role="img" aria-label=${label}><span style=${{ width }}></span></span>`
}
