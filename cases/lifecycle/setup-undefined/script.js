export function setup() {}
export default function (data) { console.log(typeof data, data === undefined, arguments.length); }
export function teardown(data) { console.log(typeof data); }
