export interface Item { name: string }
export type Other = { n: number };
export const make = (name: string): Item => ({ name });
