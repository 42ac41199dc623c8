export default function () {
  for (const time of [0, 1700000000123, 1720000000000, -1, 4102444800000]) {
    const date = new Date(time);
    console.log(String(date), date.toDateString(), date.toTimeString(), date.toUTCString(), date.toISOString(), date.getTimezoneOffset());
  }
  console.log(String(new Date(NaN)), JSON.stringify({ d: new Date(0) }), new Date(2026, 2, 29, 3, 30).toString());
}
