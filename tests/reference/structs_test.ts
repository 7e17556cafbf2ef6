/** The struct sizes that the model uses, against the type information of two kernels. */

import { kernel, skbTruesize, skbWithOverhead } from "@truesize/lab";
import { fixture, Tally } from "./rows.ts";

interface Structs {
  kernels: Record<
    string,
    Record<
      string,
      {
        size: number;
        aligned64: number;
        fields?: Record<string, { off: number }>;
      }
    >
  >;
  derived: Record<string, Record<string, number>>;
}

Deno.test("structs.json: sizes used by the model", () => {
  const { kernels, derived } = fixture<Structs>("structs.json");
  const tally = new Tally();
  for (
    const [label, name] of [["6.18", "6.18"], ["6.1-debian", "6.1"]] as const
  ) {
    const k = kernel(name);
    const structs = kernels[label]!;
    const row = (
      what: string,
      model: number,
      measured: number | undefined,
    ): void => tally.row(() => `${label} ${what}`, model, measured);
    row("sk_buff", k.skb.skBuff, structs.sk_buff!.size);
    row("sk_buff aligned", k.skb.skBuffAligned, structs.sk_buff!.aligned64);
    row("sk_buff_fclones", k.skb.skBuffFclones, structs.sk_buff_fclones!.size);
    row(
      "skb_shared_info",
      k.skb.sharedInfoHeader + 17 * k.skb.fragSize,
      structs.skb_shared_info!.size,
    );
    row(
      "skb_shared_info.frags",
      k.skb.sharedInfoHeader,
      structs.skb_shared_info!.fields!.frags!.off,
    );
    row(
      "skb_shared_info aligned",
      k.skb.sharedInfo,
      structs.skb_shared_info!.aligned64,
    );
    const rules = derived[label]!;
    row("SKB_TRUESIZE(0)", skbTruesize(k, 0), rules["SKB_TRUESIZE(0)"]);
    for (const size of [1024, 2048, 4096]) {
      row(
        `SKB_WITH_OVERHEAD(${size})`,
        skbWithOverhead(k, size),
        rules[`SKB_WITH_OVERHEAD(${size})`],
      );
    }
  }
  tally.done("structs.json");
});
