/**
 * The pages of the console, a row each. The navigation, the bar of a phone, the keys with their help and the address derive from these rows.
 *
 * To add a view to a page, put it into the row: `views` stand under each other, `beside` is the column at their right on a wide screen and below
 * them on a narrow one. Only the views of the page that the address names exist: a view is made when its page opens and removed when it is left,
 * so it reads and draws nothing meanwhile. What must survive that goes into the address (`usePlace`, `goTo`) or the store. A view takes no
 * properties: the market of Trade is `usePlace().item`, or the first of `useMarkets()` where the address names none (`useMarket`).
 * Whatever sends, or drags a line, is off while `useStream().isOld`.
 */
import type { VNode } from 'preact'
import { AlarmsView } from '../alarms/alarmsView.ts'
import { FleetView } from '../cluster/fleetView.ts'
import type { PageId } from '../pagePlace.ts'
import { texts } from '../texts.ts'
import { TicketView } from '../ticket/ticketView.ts'
import { AboutView } from '../views/aboutView.ts'
import { AttentionView } from '../views/attentionView.ts'
import { ConfigView } from '../views/configView.ts'
import { EquityView } from '../views/equityView.ts'
import { AccountView } from '../views/headlineView.ts'
import { BreakersView, LimitsView } from '../views/limitsView.ts'
import { LogView } from '../views/logView.ts'
import { HostsView, MarketsView } from '../views/marketsView.ts'
import { OrdersView } from '../views/ordersView.ts'
import { DaysView, OverTimeView } from '../views/pnlView.ts'
import { PositionsView } from '../views/positionsView.ts'
import { PriceView } from '../views/priceView.ts'
import { RestingView } from '../views/restingView.ts'
import { TradesView } from '../views/resultsView.ts'
import { RunsView } from '../views/runsView.ts'
import { SessionsView } from '../views/sessionsView.ts'
import { StrategiesView } from '../views/strategiesView.ts'
import { TasksView } from '../views/tasksView.ts'

/** A part of a page, which finds what it shows by itself. */
type View = () => VNode | null

/** A page. */
export interface PageRow {
  readonly id: PageId
  /** Its name in the navigation and in the title of the browser's tab. */
  readonly word: string
  /** The key behind `g` that leads to it. */
  readonly key: string
  readonly views: readonly View[]
  readonly beside?: readonly View[]
}

const { pages: words } = texts

/** Every page, in the order of the navigation. On a phone the first four stand in the bar, the others behind More. */
export const pageRows: readonly PageRow[] = [
  {
    id: 'trade',
    word: words.trade,
    key: 't',
    views: [PriceView, PositionsView, RestingView],
    beside: [TicketView],
  },
  { id: 'orders', word: words.orders, key: 'o', views: [RestingView, OrdersView] },
  { id: 'strategies', word: words.strategies, key: 's', views: [StrategiesView, TasksView] },
  {
    id: 'results',
    word: words.results,
    key: 'r',
    views: [DaysView, TradesView, OverTimeView, EquityView, RunsView],
  },
  {
    id: 'risk',
    word: words.risk,
    key: 'k',
    views: [AttentionView, AccountView, MarketsView],
    beside: [LimitsView, BreakersView],
  },
  {
    id: 'system',
    word: words.system,
    key: 'y',
    views: [FleetView, HostsView, LogView, ConfigView],
    beside: [AlarmsView, SessionsView, AboutView],
  },
]

/** Pages in the bar of a phone; the rest stand behind More. */
export const barPages = 4
