-- What clients of the OneAPI keep with their account: subscriptions to reports and to messages from phones, and what the account says of its people.
ALTER TABLE account ADD COLUMN subscriptions text;
ALTER TABLE account ADD COLUMN profile text;
