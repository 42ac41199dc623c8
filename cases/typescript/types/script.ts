import http, { Response } from 'k6/http';
import { check } from 'k6';
import type { Options } from 'k6/options';
interface Item { id: number; name?: string }
type Pair<T> = [T, T];
export const options: Options = { vus: 1, iterations: 2 };
class Box<T> { constructor(private readonly value: T) {} get(): T { return this.value; } }
function first<T>(pair: Pair<T>): T { return pair[0]; }
export default function (): void {
  const item = { id: 1 } as Item;
  const n: number = first<number>([7, 8])!;
  const answer: Response = http.get(`${__ENV.BASE}/get`);
  check(answer, { ok: (r: Response): boolean => r.status === 200 });
  console.log(item.id, n, new Box<string>('boxed').get(), item?.name ?? 'unnamed');
}
