enum Colour { Red, Green = 'g', Blue = 7 }
namespace Geometry { export const area = (w: number, h: number): number => w * h; }
abstract class Shape<T extends { n: number } = { n: number }> { protected constructor(public readonly name: string, private value?: T) {} abstract size(): number; get n(): number { return this.value?.n ?? -1; } }
class Square extends Shape { constructor(private side: number) { super('square', { n: side }); } override size(): number { return Geometry.area(this.side, this.side); } }
function overload(x: string): string;
function overload(x: number): number;
function overload(x: any): any { return x; }
const tuple = [1, 'two'] as const;
export default function (this: void): void {
  const square = new Square(3);
  console.log(square.name, square.size(), square.n, Colour.Red, Colour.Green, Colour[7], overload(5), tuple.length, (<any>square).side, square!.size satisfies Function);
}
