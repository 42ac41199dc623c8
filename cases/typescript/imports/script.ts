import { type Item, make } from './lib.ts';
import type { Other } from './lib.ts';
export default function (): void { const item: Item = make('x'); const other: Other | undefined = undefined; console.log(item.name, other); }
