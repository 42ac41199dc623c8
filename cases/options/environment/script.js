export default function () {
  console.log(__ENV.NAME, `[${__ENV.EMPTY}]`, __ENV.NONE, typeof __ENV);
  __ENV.NEW = 'mutable';
  console.log(__ENV.NEW);
}
