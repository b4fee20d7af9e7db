-- One row a handle whose anchor is another one than in the report before, or that was unknown then, or is now.
--
--   handle
with appeared as (
    select handle, anchor_hash from identity except select handle, anchor_hash from before_identity
),
vanished as (
    select handle, anchor_hash from before_identity except select handle, anchor_hash from identity
)
select handle from appeared
union
select handle from vanished
