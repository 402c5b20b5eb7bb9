// Shows what is left of the budget, what was spent by day and model, and which models the key may call.
import { steyg } from './client.ts';

const { balance } = await steyg.usage.get();
console.log(`${balance.freeUsd} of ${balance.grantedUsd} USD left`);
for await (const row of steyg.usage.rows({ groupBy: 'day,model' })) console.log(row.date, row.model, row.costUsd);
const { data: models } = await steyg.models.list();
for (const model of models) console.log(model.id, model.priceUsdPerMillion.input);
