/** The type of the whole module, for functions that get it as a parameter. @module */

/**
 * What `import * as lab from "@truesize/lab"` is. A type only: nothing here is loaded before a function asks for it.
 */
export type Lab = typeof import("../../mod.ts");
