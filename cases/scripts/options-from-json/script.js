const config = JSON.parse(open('./config.json'));
export const options = config.options;
export default function () { console.log(__ITER, config.message); }
