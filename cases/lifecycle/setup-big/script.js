export function setup() { return { list: Array.from({ length: 5000 }, (_, i) => ({ i, text: `row ${i}` })), deep: JSON.parse('['.repeat(50) + ']'.repeat(50)) }; }
export default function (data) { console.log(data.list.length, data.list[4999].text, JSON.stringify(data.deep).length); }
