export default function () {
  console.log(1e21, 1e-7, 0.1 + 0.2, 123456789.123, -1e-10, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE);
  console.log([1e21, -0, NaN], { n: 1e21, z: -0, u: undefined });
  console.log(new Number(5), new String('s'), new Boolean(false), Object(1n));
}
