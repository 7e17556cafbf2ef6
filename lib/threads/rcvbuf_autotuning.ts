/**
 * The rcvbuf autotuning thread, net-next, October 2013: Daniel Borkmann and Francesco Fusco measure TCP over virtio and
 * change the first receive buffer; Eric Dumazet doubts that it can matter; Michael Dalton finds the fat skbs.
 *
 * @module
 */

import type { ErrorBand } from "./bands.ts";
import { doRuns, type ThreadPlan } from "./plan.ts";
import { plannedRun, runsBy } from "./rcvbuf_autotuning_plan.ts";
import { RTTS } from "./rcvbuf_autotuning_published.ts";
import { HOST, LATENCY_MS } from "./rcvbuf_autotuning_cells.ts";
import { PLANS } from "./rcvbuf_autotuning_tables.ts";
import { FIGURES } from "./rcvbuf_autotuning_figures.ts";
import type { ReproduceOptions, Thread } from "./thread.ts";

function plan({ only }: ReproduceOptions = {}): ThreadPlan {
  const plans = PLANS.filter(({ id }) =>
    only === undefined || only.includes(id)
  );
  return {
    runs: plans.flatMap(({ specs }) => specs.map(plannedRun)),
    ids: plans.map(({ id }) => id),
    tables: (outcomeOf) => plans.map(({ make }) => make(runsBy(outcomeOf))),
  };
}

const delayed = (rtt: number): string => `${rtt} ms`;
const FROM_25 = RTTS.filter((rtt) => rtt >= 25).map(delayed);
const HOSTS = "the hosts' CPUs have a part in it";

/** The bands of the explained cells of both tables and of the windows that their figures imply. */
const BANDS: readonly ErrorBand[] = [
  ...([["tso-off", undefined], [
    "implied-windows",
    ["TSO off, 1", "TSO off, 3"],
  ]] as const).flatMap(([table, columns]): ErrorBand[] => [
    { table, columns, rows: [delayed(10)], percent: [0, 16], note: HOSTS },
    { table, columns, rows: [delayed(25)], percent: [0, 6] },
    { table, columns, rows: FROM_25.slice(1), percent: [-0.7, 2.8] },
  ]),
  ...([["tso-on", undefined], ["implied-windows", ["TSO on, 3"]]] as const)
    .flatMap(([table, columns]): ErrorBand[] => [
      { table, columns, rows: [delayed(10)], percent: [0, 10.5], note: HOSTS },
      { table, columns, rows: FROM_25, percent: [1.8, 9.5] },
    ]),
  {
    table: "tso-off-latency",
    percent: 1,
    note: `${LATENCY_MS} ms in each round trip, chosen by the first two rows`,
  },
  {
    table: "tso-on-latency",
    rows: [delayed(10)],
    percent: [-4.4, 0],
    note: HOSTS,
  },
  { table: "tso-on-latency", rows: FROM_25, percent: [1.1, 8.3] },
];

/** The thread, its figures and how they follow. */
export const rcvbufAutotuningThread: Thread = {
  id: "rcvbuf-autotuning",
  title: "tcp: rcvbuf autotuning improvements (October 2013)",
  question:
    "Why does a TCP window stop at 1.5 MB, and which of three theories of 2013 was right?",
  messages: [
    {
      subject: "[PATCH net-next] tcp: rcvbuf autotuning improvements",
      from: "Daniel Borkmann",
      date: "2013-10-03",
    },
    {
      subject: "Re: [PATCH net-next] tcp: rcvbuf autotuning improvements",
      from: "Eric Dumazet",
      date: "2013-10-03",
    },
    {
      subject: "Re: [PATCH net-next] tcp: rcvbuf autotuning improvements",
      from: "Michael Dalton",
      date: "2013-10-03",
    },
  ],
  kernels: ["net-next-2013-10", "6.1", "6.18"],
  fitted: [
    {
      name: "host latency",
      value: LATENCY_MS,
      unit: "ms",
      reason:
        "in every round trip of the tables tso-off-latency and tso-on-latency and of no other: " +
        "chosen by the 10 and 25 ms rows of columns 1 and 3, TSO off",
    },
    {
      name: "loss interval, TSO off",
      value: 8,
      unit: "s",
      reason: "a hypothesis for column 2, in the table of hypotheses alone",
    },
    {
      name: "loss interval, TSO on",
      value: 10.5,
      unit: "s",
      reason:
        "a hypothesis for columns 1 and 2, in the table of hypotheses alone",
    },
  ],
  figures: FIGURES,
  bands: BANDS,
  findings: [
    "A segment of 1,448 bytes in a whole page is charged 4,864 bytes, is worth 2,432 bytes of window, and so opens rcv_ssthresh only " +
    "up to half of win(tcp_rmem[2]): 1,572,864 bytes. That is the 1.5 MB window of columns 1 and 3 with TSO off.",
    "With TSO on, skbs are worth what they carry; the window is 3 MiB, and the writer, who sleeps until a third of 4 MiB is free, keeps the flight below it.",
    "The patch lowers the first receive buffer, 366,720 to 221,184 bytes. Neither value matters over 60 s: the columns differ by less than 1 %.",
    "Setting the first buffer to tcp_rmem[2] does not help either: the cap is in tcp_grow_window, which asks what an skb is worth.",
    "Fixing virtio does: with 2,304 bytes a segment the cap is gone and the send buffer binds.",
    "Not explained by any code of the three kernels: column 2 with TSO off, columns 1 and 2 with TSO on, the row of 0 ms. netem's default limit of " +
    "1,000 packets in column 2's runs alone, or a loss every 8 s, would give its shape, at one free parameter.",
    `The hosts' prices (${HOST.packet} ns a packet, ${HOST.ack} an ACK, ${HOST.byte} a byte, ${HOST.wake} a wake-up) are round figures, not fitted; the table of choices halves and doubles them.`,
  ],
  dear: ["tso-off-latency", "tso-on-latency", "hypotheses", "choices"],
  plan,
  async reproduce(options) {
    const { runs, tables } = plan(options);
    return tables(await doRuns(runs, options));
  },
};
