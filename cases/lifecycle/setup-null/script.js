export function setup() { return null; }
export default function (data) { console.log(String(data), typeof data); }
