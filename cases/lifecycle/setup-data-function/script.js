export function setup() { return { fn: function () {} }; }
export default function (data) { console.log('never'); }
