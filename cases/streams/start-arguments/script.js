import { ReadableStream } from 'k6/experimental/streams';
export default function () {
  const order = [];
  const source = { start(...all) { order.push('start ' + all.length + ' ' + typeof all[0].enqueue + ' ' + (this === source)); } };
  new ReadableStream(source);
  order.push('after');
  console.log(order.join('; '));
}
