import { sleep, group } from 'k6';
import { Options, Scenario } from 'k6/options';
import type { Response } from 'k6/http';
import encoding, { type b64decode as Decoder } from 'k6/encoding';

enum Color { Red, Green = 5, Blue, Name = 'str', Twice = Green * 2 }
const enum Size { Small = 1, Large }
namespace Geometry {
  export const unit = 1;
  export function area(side: number): number { return side * side * unit; }
  export enum Kind { Round, Square }
  export type Side = number;
}
interface Shape { name: string; sides?: number }
type Pair<A, B = A> = [A, B];

abstract class Base<T> {
  static count: number = 3;
  declare ghost: string;
  filled!: number;
  maybe?: string;
  protected readonly kind: string = 'base';
  constructor(private readonly a: T, public b?: string) {}
  abstract describe(): string;
  [key: string]: any;
}
class Derived extends Base<number> implements Shape {
  public name = 'derived';
  constructor(a: number, protected extra = 'more') {
    super(a, 'b');
  }
  override describe(): string { return `${(this as any).a} ${this.b} ${this.extra} ${this.kind}`; }
  get size(): Size { return Size.Large; }
  static of<T extends number>(this: typeof Derived, a: T): Derived { return new this(a); }
}
function over(a: string): string;
function over(a: number): number;
function over(a: any): any { return a; }

export const options: Options = { iterations: 1 } satisfies Options;
const identity = <T,>(x: T): T => x;
const later = async <
  T
>(x: T): Promise<T> => x;
const shaped = (x: number): {
  value: number
} => ({ value: x });
declare const nothing: number;
declare global { interface Window { x: number } }

export default async function (data?: unknown): Promise<void> {
  console.log(JSON.stringify(Color), Size.Large, Color[5], Color.Twice);
  console.log(Geometry.area(3 as Geometry.Side), Geometry.Kind.Square, Geometry.Kind[0]);
  const derived = Derived.of(7);
  console.log(derived.describe(), derived.size, Derived.count, Object.keys(derived).join());
  console.log(over('x')!.length, over(4), identity<number>(3), await later('l'), shaped(2).value);
  const pair: Pair<number, string> = [1, 'two'];
  const [first, second] = pair as [number, string];
  const assertion = <string>(<unknown>second);
  let value: string | undefined
  ;(() => { value = assertion })()
  console.log(first, value!, typeof sleep, encoding.b64encode(<string>value));
  for (const [key, n] of Object.entries({ a: 1 } as Record<string, number>)) console.log(key, n!);
  try { throw new Error('typed'); } catch (e: unknown) { console.log((e as Error).message); }
  const list: Array<{ id: number }> = [{ id: 1 }], ids = list.map(({ id }: { id: number }): number => id);
  console.log(ids, list[0]?.id as number);
  label: for (let i: number = 0; i < 2; i++) { if (i > 0) break label; console.log(i); }
}
