const data = JSON.parse(open('./data.json'));
export default function () { console.log(data.list.length, data.name); }
