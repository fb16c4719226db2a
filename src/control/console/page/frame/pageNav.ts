/** The navigation: a row of links in the head, on a phone a bar at the bottom of the screen with the ticket, and the other pages behind More. */
import type { VNode } from 'preact'
import { html, useMayCommand } from '../markup.ts'
import { addressOf } from '../pagePlace.ts'
import { usePlace } from '../placeHistory.ts'
import { texts } from '../texts.ts'
import { openTicket } from '../ticket/ticket.ts'
import { ticketTexts } from '../ticket/ticketTexts.ts'
import { Menu } from './menu.ts'
import { barPages, type PageRow, pageRows } from './pageRows.ts'
import { FindField, HelpButton } from './pageTools.ts'

function PageLink({ row, isCurrent }: { readonly row: PageRow; readonly isCurrent: boolean }): VNode {
  return html`<a href=${addressOf({ page: row.id })} aria-current=${isCurrent ? 'page' : undefined}>${row.word}</a>`
}

/** The links, and More. */
export function PageNav({ onHelp }: { readonly onHelp: () => void }): VNode {
  const { page } = usePlace()
  const mayCommand = useMayCommand()
  const linkOf = (row: PageRow) => html`<${PageLink} key=${row.id} row=${row} isCurrent=${row.id === page} />`
  const rest = pageRows.slice(barPages)
  return html`<nav class="pages" aria-label=${texts.pages.navigation}>
    ${pageRows.slice(0, barPages).map(linkOf)}
    <span class="wide">${rest.map(linkOf)}</span>
    ${mayCommand ? html`<span class="narrow"><button type="button" class="plus" aria-label=${ticketTexts.open} onClick=${openTicket}>+</button></span>` : ''}
    <span class="narrow">
      <${Menu} id="more-menu" text=${texts.pages.more} isCurrent=${rest.some(({ id }) => id === page)}>
        ${rest.map(linkOf)}
        <${HelpButton} onHelp=${onHelp} />
        <${FindField} />
      <//>
    </span>
  </nav>`
}
